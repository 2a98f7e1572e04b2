// The end of a run of the tests before its time: by a signal, or because mocha's own process above it was killed.
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const LOOK_EVERY_MS = 500;
/** Engines have limits of their own, which together are below this. */
const STOP_LIMIT_MS = 90_000;

/**
 * Calls `stop` once when the run is ended early, and ends this process after it. What `stop` leaves has guards of its own
 * (src/dev/parent-guard.ts), which end it then.
 */
export function onEarlyEnd(stop: () => Promise<void>): void {
  let isEnding = false;
  const end = (reason: string, exitCode: number): void => {
    if (isEnding) return;
    isEnding = true;
    console.error(`the run of the tests is ended: ${reason}`);
    setTimeout(() => process.exit(exitCode), STOP_LIMIT_MS);
    stop()
      .catch((error: unknown) => {
        console.error(error);
      })
      .finally(() => process.exit(exitCode));
  };
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      end(signal, 128 + constants.signals[signal]);
    });
  }
  // Mocha's program runs the tests in a process below it, and a signal may reach only the one above.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) end('mocha is gone', 1);
  }, LOOK_EVERY_MS).unref();
}
