// The npm that runs the script, on the Node.js that it runs on: what a Linux system packages as npm finds its own parts on that alone.

/** The program and its first arguments. Outside of npm's scripts: whatever npm the PATH has. */
export function npmCommand() {
  const { npm_execpath: npm, npm_node_execpath: node = process.execPath } = process.env;
  return npm?.endsWith('.js') ? [node, npm] : ['npm'];
}
