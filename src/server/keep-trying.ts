// Retries work at the start of a process until it succeeds, and repeats it at intervals if requested.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Stoppable } from './server-parts.ts';

const PAUSE_MS = 5000;

/**
 * Runs `work` until it succeeds, with a pause after each failure: once, or again `repeatEveryMs` after each success. A
 * stop begins no further try, and waits for the current one.
 */
export function keepTrying(options: {
  /** The log message of a failed try, such as “the schedule could not be created”. */
  readonly failure: string;
  readonly work: () => Promise<void>;
  readonly log: Log;
  readonly pauseMs?: number;
  readonly repeatEveryMs?: number;
}): Stoppable {
  const { failure, work, log, pauseMs = PAUSE_MS, repeatEveryMs } = options;
  const stopping = new AbortController();
  const finished = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let waitMs = pauseMs;
      try {
        await work();
        if (repeatEveryMs === undefined) return;
        waitMs = repeatEveryMs;
      } catch (error) {
        log.error({ error }, `${failure}; will retry`);
      }
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  return {
    async stop() {
      stopping.abort();
      await finished;
    },
  };
}
