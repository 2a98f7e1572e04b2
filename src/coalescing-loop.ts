// Runs one pass at a time, when it is woken: all wakes during a pass cause one more.
import { setTimeout as sleep } from 'node:timers/promises';

export type CoalescingLoop = {
  /** Begins a pass, at once or after the current pass. `onError` gets the error of a pass that fails. */
  readonly wake: () => void;
  /** Like `wake`, but if no pass is running, the pass begins after the pause and also serves the wakes during the pause. */
  readonly wakeSoon: () => void;
  /** Like `wake`; resolves when no other pass is due. Rejects when a pass fails. */
  readonly run: () => Promise<void>;
  readonly isRunning: () => boolean;
  /** Begins no other pass; resolves when the current pass has ended or failed. */
  readonly stop: () => Promise<void>;
};

export type CoalescingLoopOptions = {
  readonly pass: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** How long after the end of a pass the next one begins. None by default. */
  readonly pauseMs?: number;
};

/** A pass that fails does not end the loop: a wake that came during the pass still causes another. */
export function createCoalescingLoop({ pass, onError, pauseMs = 0 }: CoalescingLoopOptions): CoalescingLoop {
  let running: Promise<void> | null = null;
  let [isDue, isStopped] = [false, false];
  let notBeforeMs = -Infinity;

  function pause(): void {
    notBeforeMs = performance.now() + pauseMs;
  }

  async function runWhileDue(): Promise<void> {
    while (isDue && !isStopped) {
      const waitMs = notBeforeMs - performance.now();
      if (waitMs > 0) {
        await sleep(waitMs);
        continue;
      }
      isDue = false;
      try {
        await pass();
      } finally {
        pause();
      }
    }
  }

  function run(): Promise<void> {
    isDue = true;
    running ??= runWhileDue().finally(() => {
      running = null;
      // Since the last look, when this was still running.
      if (isDue && !isStopped) wake();
    });
    return running;
  }

  function wake(): void {
    if (running) isDue = true;
    else run().catch(onError);
  }

  return {
    wake,
    wakeSoon() {
      if (!running) pause();
      wake();
    },
    run,
    isRunning: () => running !== null,
    async stop() {
      isStopped = true;
      // The caller that began the pass gets its error.
      await running?.catch(() => undefined);
    },
  };
}
