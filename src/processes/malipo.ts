// Entry of the command line for a merchant's developers: hands the world to src/cli and ends with its exit code.
import { runCli } from '../cli/run.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stop.abort();
  });
}
// Who reads the output may have enough of it: `malipo events | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const { stdin, stdout, stderr } = process;
const code = await runCli({
  args: process.argv.slice(2),
  environment: process.env,
  streams: { stdin, stdout, stderr },
  stop: stop.signal,
});
// Not at once: what was printed may still be on its way to a pipe. Nothing else is left that keeps the process up, but for a
// call that was broken off.
process.exitCode = code;
stdout.write('', () => stderr.write('', () => process.exit(code)));
