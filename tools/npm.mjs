// The npm that runs the script, on the Node.js that it was started with: Debian's npm does not find its own parts on any other.

/** The program and its first arguments. Outside of npm's scripts: whatever npm the PATH has. */
export function npmCommand() {
  const { npm_execpath: npm, npm_node_execpath: node = process.execPath } = process.env;
  return npm?.endsWith('.js') ? [node, npm] : ['npm'];
}
