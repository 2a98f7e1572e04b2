// The loop that moves recorded work: starts what is not started and makes first webhook attempts. It holds no state.
import type { Log } from '../log.ts';
import type { DeliveryMaintenance } from './delivery-upkeep.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { WorkStarter } from './work-starter.ts';

export type Dispatcher = {
  /** There may be new deliveries. */
  wake(): void;
  /** There may be deliveries that a workflow must take over. */
  wakeStarter(): void;
  /** Stops taking work and waits for what is under way. */
  stop(): Promise<void>;
};

export type DispatcherOptions = {
  readonly attempts: FirstAttempts;
  readonly starter: WorkStarter;
  readonly maintenance: DeliveryMaintenance;
  /** How often it looks without being woken. */
  readonly tickMs: number;
  readonly log: Log;
};

/** Any number may run on one database. */
export function startDispatcher({ attempts, starter, maintenance, tickMs, log }: DispatcherOptions): Dispatcher {
  let isStopped = false;
  const attemptLoop = createLoop('first attempts', () => attempts.run());
  const startLoop = createLoop('starts', async () => {
    while (!isStopped && (await starter.startRecorded()) > 0);
  });
  const maintenanceLoop = createLoop('upkeep', () => maintenance.run());
  const tick = (): void => {
    for (const loop of [attemptLoop, startLoop, maintenanceLoop]) loop.wake();
  };
  const timer = setInterval(tick, tickMs);
  tick();

  /** Runs one pass at a time; a wake during a pass makes one more. An error ends the pass, not the loop. */
  function createLoop(name: string, pass: () => Promise<void>) {
    let running: Promise<void> | null = null;
    let isWoken = false;
    async function run(): Promise<void> {
      while (isWoken && !isStopped) {
        isWoken = false;
        try {
          await pass();
        } catch (error) {
          log.error({ error, loop: name }, 'a pass failed; the next tick tries again');
        }
      }
      running = null;
    }
    return {
      wake() {
        isWoken = true;
        if (!isStopped) running ??= run();
      },
      async stopped() {
        await running;
      },
    };
  }

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
      await Promise.all([attemptLoop, startLoop, maintenanceLoop].map((loop) => loop.stopped()));
      await attempts.drain();
      await starter.drain();
    },
  };
}
