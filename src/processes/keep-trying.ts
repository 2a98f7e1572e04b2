// Work that a process does at its start, retried until it succeeds.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';

export type KeptTrying = {
  /** Starts no further try; waits for the try in progress. */
  stop(): Promise<void>;
};

const PAUSE_MS = 5000;

/** Runs `work` until it succeeds once, with a pause after each failure. */
export function keepTrying(options: {
  /** What the log says after each failed try, such as “the schedule could not be created”. */
  readonly failure: string;
  readonly work: () => Promise<void>;
  readonly log: Log;
  readonly pauseMs?: number;
}): KeptTrying {
  const { failure, work, log, pauseMs = PAUSE_MS } = options;
  const stopping = new AbortController();
  const finished = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await work();
        return;
      } catch (error) {
        log.error({ error }, `${failure}; will retry`);
        await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  return {
    async stop() {
      stopping.abort();
      await finished;
    },
  };
}
