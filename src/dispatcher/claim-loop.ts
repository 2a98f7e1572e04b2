// Makes claims one after the other, a short while apart, as long as there is a reason for another.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';

export type ClaimLoop = {
  /** Claims, and once more for all calls during a claim; resolves when there is nothing more to claim now. Rejects when a claim fails. */
  run(): Promise<void>;
  /** The same, not at once, so that one claim serves what follows; a failure is logged. */
  runSoon(): void;
  isClaiming(): boolean;
  /** Claims nothing more, and resolves when the claim under way has ended. */
  stop(): Promise<void>;
};

export type ClaimLoopOptions = {
  /** Resolves to whether another claim may find more. */
  readonly claim: () => Promise<boolean>;
  readonly log: Log;
};

const PAUSE_MS = 5;

export function createClaimLoop({ claim, log }: ClaimLoopOptions): ClaimLoop {
  let running: Promise<void> | null = null;
  let [isDue, isClaiming, isStopped] = [false, false, false];
  let notBeforeMs = -Infinity;

  function pause(): void {
    notBeforeMs = performance.now() + PAUSE_MS;
  }

  async function claimWhileDue(): Promise<void> {
    while (isDue) {
      const waitMs = notBeforeMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      if (isStopped) return;
      [isDue, isClaiming] = [false, true];
      try {
        const mayFindMore = await claim();
        isDue ||= mayFindMore;
      } finally {
        isClaiming = false;
        pause();
      }
    }
  }

  function run(): Promise<void> {
    isDue = true;
    running ??= claimWhileDue().finally(() => {
      running = null;
      // Since the last look, when this was still running.
      if (isDue && !isStopped) runOn();
    });
    return running;
  }

  function runOn(): void {
    run().catch((error: unknown) => {
      log.error({ error }, 'deliveries could not be claimed; the next tick tries again');
    });
  }

  return {
    run,
    runSoon() {
      if (!running) pause();
      runOn();
    },
    isClaiming: () => isClaiming,
    async stop() {
      isStopped = true;
      // A failed claim is logged elsewhere.
      await running?.catch(() => undefined);
    },
  };
}
