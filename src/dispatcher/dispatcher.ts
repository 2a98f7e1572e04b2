// Runs the loops that move recorded work: workflow starts, checks of late work, first webhook attempts, maintenance,
// audit chains, totals. It holds no state that another dispatcher would need.
import { createCoalescingLoop } from '../coalescing-loop.ts';
import type { DueWork } from '../domain/due-work.ts';
import type { Log } from '../log.ts';
import type { DispatchReport } from './dispatch-report.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { LateWorkChecks } from './late-work.ts';
import type { WorkStarter } from './work-starter.ts';

/** The repeated work of a loop. */
export type Pass = {
  /** Runs once per tick. */
  run(): Promise<void>;
};

export type Dispatcher = {
  /** Call it when there may be new deliveries. */
  wake(): void;
  /** Call it when deliveries may need a workflow. */
  wakeStarter(): void;
  /** Takes no new work and waits for the work in flight. */
  stop(): Promise<void>;
};

export type DispatcherOptions = {
  readonly attempts: FirstAttempts;
  readonly starter: WorkStarter;
  readonly checks: LateWorkChecks;
  readonly maintenance: Pass;
  readonly auditChains: Pass;
  readonly totals: Pass;
  readonly report: DispatchReport;
  /** Says which loops may have something to do. */
  readonly findDueWork: () => Promise<DueWork>;
  /** How often it polls for work. */
  readonly tickMs: number;
  /** How often every loop runs, whatever the work poll finds. */
  readonly wholePassMs: number;
  readonly log: Log;
};

const EVERYTHING: DueWork = {
  attempts: true,
  starts: true,
  checks: true,
  maintenance: true,
  auditChains: true,
  totals: true,
};

/**
 * Any number of dispatchers may run on one database. At each tick one statement looks for due work, and a loop runs if
 * it may have something to do. The next tick finds work even if its announcement was lost.
 */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { attempts, starter, checks, maintenance, auditChains, totals, report, log } = options;
  let isStopped = false;
  const poll = createWorkPoll(options);
  const loopOf = (name: string, pass: () => Promise<void>) => createLoop(name, pass, log);
  const loopsByWork: Readonly<Record<keyof DueWork, Loop>> = {
    attempts: loopOf('first attempts', () => attempts.run()),
    starts: loopOf('starts', async () => {
      while (!isStopped && (await starter.startRecorded()) > 0);
    }),
    checks: loopOf('checks', async () => {
      // Lost runs are repaired as they are found; each tick checks a limited number of runs that only seem late.
      while (!isStopped && (await checks.check()) > 0);
    }),
    maintenance: loopOf('maintenance', () => maintenance.run()),
    auditChains: loopOf('audit chains', () => auditChains.run()),
    totals: loopOf('totals', () => totals.run()),
  };
  const workLoops = Object.values(loopsByWork);
  const pollLoop = loopOf('work poll', async () => {
    const polledAtMs = Date.now();
    const due = await poll();
    for (const [work, loop] of Object.entries(loopsByWork) as [keyof DueWork, Loop][]) {
      if (due[work]) loop.wake();
      else loop.rest(polledAtMs);
    }
    reportLoop.wake();
  });
  const reportLoop = loopOf('report', async () => {
    const doneAsOfMs = Math.min(...workLoops.map((loop) => loop.doneAsOfMs()));
    if (doneAsOfMs > 0) await report.run(new Date(doneAsOfMs));
  });
  const loops = [pollLoop, ...workLoops, reportLoop];
  const timer = setInterval(pollLoop.wake, options.tickMs);
  pollLoop.wake();

  return {
    wake: loopsByWork.attempts.wake,
    wakeStarter: loopsByWork.starts.wake,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await Promise.all(loops.map((loop) => loop.stop()));
      await attempts.drain();
      await starter.drain();
    },
  };
}

/** Resolves to every loop if the work poll fails, and if a whole pass is due. */
function createWorkPoll({ findDueWork, starter, wholePassMs, log }: DispatcherOptions): () => Promise<DueWork> {
  let nextWholePassMs = -Infinity;
  return async () => {
    const nowMs = performance.now();
    if (nowMs >= nextWholePassMs) {
      nextWholePassMs = nowMs + wholePassMs;
      return EVERYTHING;
    }
    try {
      const due = await findDueWork();
      // Only a pass can find out whether it is still behind.
      return { ...due, starts: due.starts || starter.isBehind() };
    } catch (error) {
      log.error({ error }, 'the work poll failed; every loop polls for itself');
      return EVERYTHING;
    }
  };
}

type Loop = {
  readonly wake: () => void;
  /** There was nothing to do at this time. */
  rest(asOfMs: number): void;
  /** When the last completed pass began, or when there was nothing to do; 0 before either. */
  doneAsOfMs(): number;
  /** Begins no other pass, and waits for the current one. */
  stop(): Promise<void>;
};

/** Runs one pass at a time; a wake during a pass causes one more. An error ends the pass, not the loop. */
function createLoop(name: string, pass: () => Promise<void>, log: Log): Loop {
  let doneAsOfMs = 0;
  const loop = createCoalescingLoop({
    async pass() {
      const beganAtMs = Date.now();
      await pass();
      doneAsOfMs = beganAtMs;
    },
    onError(error) {
      log.error({ error, loop: name }, 'a pass failed; the next tick tries again');
    },
  });
  return {
    wake: loop.wake,
    rest(asOfMs) {
      // A pass in progress may be working on claimed rows, which the work poll no longer finds.
      if (!loop.isRunning()) doneAsOfMs = asOfMs;
    },
    doneAsOfMs: () => doneAsOfMs,
    stop: loop.stop,
  };
}
