// Work that a process owes at its start, tried until it is done.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';

export type KeptTrying = {
  /** Tries no more; waits for the try that is under way. */
  stop(): Promise<void>;
};

const PAUSE_MS = 5000;

/** Runs `work` until it succeeds once, with a pause after each failure. */
export function keepTrying(options: {
  /** What the log says each time, such as “the schedule could not be made”. */
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
        log.error({ error }, `${failure}; it is tried again`);
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
