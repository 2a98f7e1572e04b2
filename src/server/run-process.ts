// Shared by all our processes: they report a failed start, stop cleanly on a signal, and end with their parent.
import { readArguments } from '../arguments.mjs';
import { ConfigError } from '../settings/config.ts';
import { exitWithParent, reportReady } from '../engines/process/parent-link.ts';
import { CannotStart, type Stoppable } from './server-parts.ts';

/** After this time a stop counts as hung and the process exits. */
const STOP_LIMIT_MS = 60_000;

/** Runs until SIGTERM, SIGINT or the parent's end, also during the start. A failed start ends with code 1. */
export async function runProcess(name: string, start: () => Promise<Stoppable>): Promise<void> {
  readArguments({
    usage: `usage: node dist/src/server/entries/${name}.js\n\nIts settings come from the environment: docs/config.md.`,
  });
  let running: Stoppable | null = null;
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    // Before the start there is nothing to finish.
    if (running !== null) stopping ??= stopInTime(name, running);
    return stopping ?? Promise.resolve();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void stop().then(() => process.exit(process.exitCode ?? 0)));
  }
  exitWithParent(stop);
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`${name} cannot start: ${textOf(error)}\n`);
    process.exit(1);
  }
  reportReady();
}

/** Runs a program that ends by itself and takes no arguments. A failure ends it with code 1. */
export async function runCommand(name: string, usage: string, work: () => Promise<void>): Promise<void> {
  readArguments({ usage });
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${name} failed: ${textOf(error)}\n`);
    process.exitCode = 1;
  }
}

/** For unusable settings only the problems; for any other error also its stack. */
function textOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof CannotStart) return error.message;
  return error instanceof Error ? (error.stack ?? '') : String(error);
}

async function stopInTime(name: string, running: Stoppable): Promise<void> {
  const limit = setTimeout(() => {
    process.stderr.write(`${name} did not stop within ${STOP_LIMIT_MS / 1000} s and is ended\n`);
    process.exit(1);
  }, STOP_LIMIT_MS);
  limit.unref();
  try {
    await running.stop();
  } catch (error) {
    process.stderr.write(`${name} did not stop cleanly: ${textOf(error)}\n`);
    process.exitCode = 1;
  }
}
