// Keeps a server of the embedded start running: restarts it when it dies, and gives up if that does not help.
import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, isAborted, type Engine } from './supervised-process.ts';

export type KeepRunningOptions = {
  readonly name: string;
  readonly logFile: string;
  /**
   * Restarts it with the same addresses and data. Rejects if it does not become ready, or soon after `signal` is
   * aborted; then no process is left.
   */
  readonly start: (signal: AbortSignal) => Promise<Engine>;
  readonly report: (line: string) => void;
  /** Once it is aborted nothing is restarted. */
  readonly stopping: AbortSignal;
  /** The wait before a restart doubles from the first to the longest, and is the first again after a healthy time. */
  readonly firstRestartMs?: number;
  readonly longestRestartMs?: number;
  readonly healthyAfterMs?: number;
  /**
   * It is given up after this many deaths and failed starts within the window, or in a row without a healthy time,
   * because a start can take longer than the window.
   */
  readonly mostFailures?: number;
  readonly failureWindowMs?: number;
};

export type KeptRunning = {
  /** Rejects when it is given up. */
  readonly failed: Promise<never>;
  /** Stops it, or its start in progress; resolves when its process is gone. */
  stop(): Promise<void>;
};

type Settings = Required<KeepRunningOptions>;
type State = { current: Engine | undefined };

/** Supervises `first`, which is ready, from now on. */
export function keepRunning(first: Engine, options: KeepRunningOptions): KeptRunning {
  const settings: Settings = {
    firstRestartMs: 250,
    longestRestartMs: 10_000,
    healthyAfterMs: 15_000,
    mostFailures: 12,
    failureWindowMs: 120_000,
    ...options,
  };
  const ownStop = new AbortController();
  const stopping = AbortSignal.any([ownStop.signal, settings.stopping]);
  const state: State = { current: first };
  const supervision = supervise(settings, state, stopping);
  const failed = supervision.then(() => new Promise<never>(() => undefined));
  // The caller handles the rejection only once everything runs.
  failed.catch(() => undefined);
  return {
    failed,
    async stop() {
      ownStop.abort();
      await state.current?.stop();
      await supervision.catch(() => undefined);
    },
  };
}

async function supervise(settings: Settings, state: State, stopping: AbortSignal): Promise<void> {
  const { name, report, firstRestartMs, longestRestartMs, mostFailures, failureWindowMs, healthyAfterMs } = settings;
  let restartInMs = firstRestartMs;
  let failuresAtMs: number[] = [];
  let failuresInARow = 0;
  let upSinceMs = Date.now();
  let reason: string | undefined;
  for (;;) {
    reason ??= await endOf(state.current);
    state.current = undefined;
    if (stopping.aborted) return;
    if (Date.now() - upSinceMs > healthyAfterMs) {
      restartInMs = firstRestartMs;
      failuresInARow = 0;
    }
    failuresInARow += 1;
    failuresAtMs = [...failuresAtMs.filter((at) => at > Date.now() - failureWindowMs), Date.now()];
    if (failuresAtMs.length >= mostFailures) throw givenUp(settings, ` within ${failureWindowMs / 1000} s and`, reason);
    if (failuresInARow >= mostFailures)
      throw givenUp(settings, `, never running for ${healthyAfterMs / 1000} s in between, and`, reason);
    report(`${name} died (${reason}); it is started again in ${restartInMs} ms`);
    await sleep(restartInMs, undefined, { signal: stopping }).catch(() => undefined);
    restartInMs = Math.min(restartInMs * 2, longestRestartMs);
    reason = await restart(settings, state, stopping);
    upSinceMs = Date.now();
  }
}

/** Undefined if it is ready again, otherwise the reason. */
async function restart(
  { name, report, start }: Settings,
  state: State,
  stopping: AbortSignal,
): Promise<string | undefined> {
  if (stopping.aborted) return 'everything stops';
  try {
    const engine = await start(stopping);
    state.current = engine;
    if (isAborted(stopping)) await engine.stop();
    else report(`${name} runs again (process ${engine.pid})`);
    return undefined;
  } catch (error) {
    // The end of its log follows the first line.
    return (error instanceof Error ? error.message : String(error)).split('\n')[0];
  }
}

function givenUp({ name, logFile, mostFailures }: Settings, how: string, reason: string): Error {
  return new Error(
    `${name} failed ${mostFailures} times${how} is not started again (at last: ${reason}); its log is ${logFile}`,
  );
}
