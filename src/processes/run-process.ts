// What every process of ours does alike: says what is wrong at start, stops in order, and ends with its parent.
import { ConfigError } from '../config.ts';
import { exitWithParent, reportReady } from '../dev/parent-link.ts';

type Stoppable = { stop(): Promise<void> };

/** An orderly stop that takes longer than this has hung. */
const STOP_LIMIT_MS = 60_000;

/** Runs until SIGTERM, SIGINT or the parent's end. A failure at start is told on one page and ends with code 1. */
export async function runProcess(name: string, start: () => Promise<Stoppable>): Promise<void> {
  let running: Stoppable;
  try {
    running = await start();
  } catch (error) {
    const text = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${name} cannot start: ${text ?? ''}\n`);
    process.exit(1);
  }
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopping ??= stopInTime(name, running);
    return stopping;
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void stop().then(() => process.exit(process.exitCode ?? 0)));
  }
  exitWithParent(stop);
  reportReady();
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
    process.stderr.write(
      `${name} did not stop cleanly: ${error instanceof Error ? (error.stack ?? '') : String(error)}\n`,
    );
    process.exitCode = 1;
  }
}
