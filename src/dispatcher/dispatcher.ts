// Runs the loops that move recorded work: workflow starts, checks of late work, first webhook attempts, maintenance, audit
// chains, totals. It holds nothing that another one would need.
import type { Log } from '../log.ts';
import type { AuditChains } from './audit-chains.ts';
import type { DispatchReport } from './dispatch-report.ts';
import type { DeliveryMaintenance } from './delivery-maintenance.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { LateWorkChecks } from './late-work.ts';
import type { RecheckStarts } from './recheck-starts.ts';
import type { Totals } from './totals.ts';
import type { WorkStarter } from './work-starter.ts';

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
  readonly rechecks: RecheckStarts;
  readonly maintenance: DeliveryMaintenance;
  readonly auditChains: AuditChains;
  readonly totals: Totals;
  readonly report: DispatchReport;
  /** How often every loop runs without being woken. */
  readonly tickMs: number;
  readonly log: Log;
};

/** Any number of dispatchers may run on one database. */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { attempts, starter, checks, rechecks, maintenance, auditChains, totals, report, tickMs, log } = options;
  let isStopped = false;
  const loopOf = (name: string, pass: () => Promise<void>) =>
    createLoop(name, pass, { isStopped: () => isStopped, log });
  const attemptLoop = loopOf('first attempts', () => attempts.run());
  const startLoop = loopOf('starts', async () => {
    while (!isStopped && (await starter.startRecorded()) > 0);
  });
  const checkLoop = loopOf('checks', async () => {
    // What was lost is repaired as fast as it is found; of runs that only look late so many are checked at each tick.
    while (!isStopped && (await checks.check()) > 0);
    // Rechecks of final payments wait while pending ones do.
    if (starter.isBehind()) return;
    await checks.checkRechecks();
    await rechecks.start();
  });
  const maintenanceLoop = loopOf('maintenance', () => maintenance.run());
  const auditLoop = loopOf('audit chains', () => auditChains.run());
  const totalsLoop = loopOf('totals', () => totals.run());
  const workLoops = [attemptLoop, startLoop, checkLoop, maintenanceLoop, auditLoop, totalsLoop];
  const reportLoop = loopOf('report', async () => {
    const doneAsOfMs = Math.min(...workLoops.map((loop) => loop.doneAsOfMs()));
    if (doneAsOfMs > 0) await report.run(new Date(doneAsOfMs));
  });
  const loops = [...workLoops, reportLoop];
  const tick = (): void => {
    for (const loop of loops) loop.wake();
  };
  const timer = setInterval(tick, tickMs);
  tick();

  return {
    wake: () => {
      attemptLoop.wake();
    },
    wakeStarter: () => {
      startLoop.wake();
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await Promise.all(loops.map((loop) => loop.stopped()));
      await attempts.drain();
      await starter.drain();
    },
  };
}

type LoopOptions = { readonly isStopped: () => boolean; readonly log: Log };

/** Runs one pass at a time; a wake during a pass causes one more. An error ends the pass, not the loop. */
function createLoop(name: string, pass: () => Promise<void>, { isStopped, log }: LoopOptions) {
  let running: Promise<void> | null = null;
  let isWoken = false;
  let doneAsOfMs = 0;
  async function run(): Promise<void> {
    while (isWoken && !isStopped()) {
      isWoken = false;
      const beganAtMs = Date.now();
      try {
        await pass();
        doneAsOfMs = beganAtMs;
      } catch (error) {
        log.error({ error, loop: name }, 'a pass failed; the next tick tries again');
      }
    }
    running = null;
  }
  return {
    wake() {
      isWoken = true;
      if (!isStopped()) running ??= run();
    },
    /** When the last pass that was completed began; 0 before there was one. */
    doneAsOfMs: () => doneAsOfMs,
    async stopped() {
      await running;
    },
  };
}
