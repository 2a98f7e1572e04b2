// Entry of `malipo`, the command line for a merchant's developers: runs src/cli and ends with its exit code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '../../cli/run.ts';
import { findProjectRoot } from '../../project-root.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stop.abort();
  });
}
// The reader of the output may close it early: `malipo events | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const { version } = JSON.parse(readFileSync(join(findProjectRoot(), 'package.json'), 'utf8')) as { version: string };
const { stdin, stdout, stderr } = process;
const code = await runCli({
  version,
  args: process.argv.slice(2),
  environment: process.env,
  streams: { stdin, stdout, stderr },
  stop: stop.signal,
});
// Exit only after the output has reached the pipe. An aborted call may otherwise keep the process alive.
process.exitCode = code;
stdout.write('', () => stderr.write('', () => process.exit(code)));
