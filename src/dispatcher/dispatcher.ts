// Runs the loops that move recorded work: workflow starts, checks of late work, first webhook attempts, maintenance, audit
// chains, totals. It holds nothing that another one would need.
import { createCoalescingLoop } from '../coalescing-loop.ts';
import type { DueWork } from '../domain/due-work.ts';
import type { Log } from '../log.ts';
import type { DispatchReport } from './dispatch-report.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { LateWorkChecks } from './late-work.ts';
import type { WorkStarter } from './work-starter.ts';

/** What one of its loops repeats. */
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
 * Any number of dispatchers may run on one database. At each tick one statement looks for what is due, and a loop runs if it may have
 * something to do: while there is nothing, that is all. Whatever announced work, or did not, is found at the next tick.
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
      // What was lost is repaired as fast as it is found; of runs that only look late so many are checked at each tick.
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

/** Resolves to everything when the work poll fails, and when a whole pass is due. */
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
      // Whether it still is behind, only a pass finds out.
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
  /** When the last pass that was completed began, or there was nothing to do; 0 before that. */
  doneAsOfMs(): number;
  /** Begins no other pass, and waits for the one under way. */
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
      // A pass that is under way may be at what the work poll no longer finds, because it claimed it.
      if (!loop.isRunning()) doneAsOfMs = asOfMs;
    },
    doneAsOfMs: () => doneAsOfMs,
    stop: loop.stop,
  };
}
