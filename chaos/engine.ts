// An engine of a campaign, kept running by the supervisor of `npm start`. A fault can hold it down for a while.
import { setTimeout as sleep } from 'node:timers/promises';
import { keepRunning } from '../src/engines/process/keep-running.ts';
import type { Engine as Running } from '../src/engines/process/supervised-process.ts';

export type Engine<Server = Running> = {
  /** The first start: address and password are the same after every start. */
  readonly server: Server;
  readonly name: string;
  /** Undefined while it is down. */
  pid(): number | undefined;
  /** Is not started before then, like a machine that is unavailable. */
  holdDown(untilMs: number): void;
  stop(): Promise<void>;
};

type EngineOptions<Server> = {
  readonly name: string;
  readonly logFile: string;
  readonly start: (signal: AbortSignal) => Promise<Server>;
  readonly report: (line: string) => void;
};

/** A campaign kills it far more often than happens in practice. */
const MOST_FAILURES = 1000;
/** And with a shorter healthy time in between. */
const LONGEST_RESTART_MS = 1000;

/** Resolves when it runs; rejects if the first start fails. */
export async function startEngine<Server extends Running>(options: EngineOptions<Server>): Promise<Engine<Server>> {
  const { name, logFile, start, report } = options;
  let current: Running | undefined;
  let heldUntilMs = 0;
  const stopping = new AbortController();

  async function startOnce(signal: AbortSignal): Promise<Server> {
    await sleep(Math.max(0, heldUntilMs - Date.now()), undefined, { signal });
    const running = await start(signal);
    current = running;
    void running.exited.then(() => {
      if (current === running) current = undefined;
    });
    return running;
  }

  const server = await startOnce(stopping.signal);
  const kept = keepRunning(server, {
    name,
    logFile,
    start: startOnce,
    report,
    stopping: stopping.signal,
    mostFailures: MOST_FAILURES,
    longestRestartMs: LONGEST_RESTART_MS,
  });
  return {
    server,
    name,
    pid: () => current?.pid,
    holdDown(untilMs) {
      heldUntilMs = untilMs;
    },
    stop: () => kept.stop(),
  };
}
