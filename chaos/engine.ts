// Keeps an engine running as a supervisor does: PostgreSQL or Temporal is started again when it ends.
import { setTimeout as sleep } from 'node:timers/promises';

type Running = { readonly pid: number; readonly exited: Promise<unknown>; stop(): Promise<void> };

export type Engine = {
  readonly name: string;
  /** Undefined while it is down. */
  pid(): number | undefined;
  /** It is not started before then, as when a machine is away. */
  holdDown(untilMs: number): void;
  stop(): Promise<void>;
};

type EngineOptions = {
  readonly name: string;
  readonly start: () => Promise<Running>;
  readonly report: (line: string) => void;
};

const RESTART_MS = 500;

/** Resolves when it runs; rejects when the first start fails. */
export async function keepRunning({ name, start, report }: EngineOptions): Promise<Engine> {
  let running: Running | undefined = await start();
  let heldUntilMs = 0;
  const stopping = new AbortController();
  const supervision = supervise();

  // A function, because the compiler keeps treating a field as false after it was checked once.
  const isStopping = (): boolean => stopping.signal.aborted;

  async function supervise(): Promise<void> {
    for (;;) {
      await running?.exited;
      running = undefined;
      if (isStopping()) return;
      await sleep(Math.max(RESTART_MS, heldUntilMs - Date.now()), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      );
      if (isStopping()) return;
      try {
        running = await start();
      } catch (error) {
        report(`${name} did not start: ${firstLine(error)}; it is tried again`);
      }
    }
  }

  return {
    name,
    pid: () => running?.pid,
    holdDown(untilMs) {
      heldUntilMs = untilMs;
    },
    async stop() {
      stopping.abort();
      await running?.stop();
      await supervision;
      // Started while it was being stopped.
      await running?.stop();
    },
  };
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
