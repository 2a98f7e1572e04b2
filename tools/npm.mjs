// The npm of the running script, on the same Node.js: Debian's npm does not find its own parts on any other.

/** The program and its first arguments. Outside npm's scripts, the npm on the PATH. */
export function npmCommand() {
  const { npm_execpath: npm, npm_node_execpath: node = process.execPath } = process.env;
  return npm?.endsWith('.js') ? [node, npm] : ['npm'];
}
