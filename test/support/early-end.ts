// The end of a run of the tests before its time, by a signal.
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const STOP_LIMIT_MS = 90_000;

/**
 * Calls `stop` once when the run is ended early, and ends this process after it. The keeper of its engines sees that, and ends
 * them.
 */
export function onEarlyEnd(stop: () => Promise<void>): void {
  let isEnding = false;
  const end = (signal: (typeof SIGNALS)[number]): void => {
    if (isEnding) return;
    isEnding = true;
    console.error(`the run of the tests is ended: ${signal}`);
    const exitCode = 128 + constants.signals[signal];
    setTimeout(() => process.exit(exitCode), STOP_LIMIT_MS);
    stop()
      .catch((error: unknown) => {
        console.error(error);
      })
      .finally(() => process.exit(exitCode));
  };
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      end(signal);
    });
  }
}
