// Starts one of our own Node programs as a child, waits until it is ready, and restarts it when it dies unexpectedly.
import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { READY_MESSAGE } from './parent-link.ts';
import {
  describeExit,
  endOf,
  isAborted,
  superviseChild,
  type Environment,
  type Exit,
  type SupervisedProcess,
} from './supervised-process.ts';

export type ChildEvent =
  | { readonly type: 'started'; readonly pid: number }
  | { readonly type: 'ready'; readonly pid: number }
  /** It ended unexpectedly, or was ended because it did not become ready. It is restarted after `restartInMs`. */
  | { readonly type: 'died'; readonly pid: number | undefined; readonly reason: string; readonly restartInMs: number }
  | { readonly type: 'stopped'; readonly pid: number };

export type ChildOptions = {
  readonly name: string;
  readonly entry: string;
  readonly args?: readonly string[];
  /** Options of Node, by default those of this process, so that children of tsx read TypeScript too. */
  readonly execArgv?: readonly string[];
  /** The whole environment, besides `MEMORY_ENVIRONMENT`: nothing is inherited. */
  readonly env: Environment;
  /** Null: it writes to the output of this process. */
  readonly logFile: string | null;
  /** `message`: the child calls `reportReady`. `url`: this address responds with a 2xx. */
  readonly ready: 'message' | { readonly url: string };
  readonly readyLimitMs?: number;
  readonly stopLimitMs?: number;
  /** The wait before a restart doubles from the first to the longest. */
  readonly firstRestartMs?: number;
  readonly longestRestartMs?: number;
  /** Once it is aborted nothing is restarted. */
  readonly stopping?: AbortSignal;
  readonly onEvent?: (event: ChildEvent) => void;
};

export type SupervisedChild = {
  /** Undefined while the child is down. */
  pid(): number | undefined;
  /** Sends SIGTERM, and SIGKILL after `stopLimitMs`; no restart follows. Resolves when the process is gone. */
  stop(): Promise<void>;
};

type Settings = Required<ChildOptions>;
type Attempt = { readonly process: SupervisedProcess; readonly reportedReady: Promise<void> };

/**
 * Bounds the memory of a process for the smallest machine. Otherwise Node.js sizes its heap by the memory of the
 * machine, and glibc's allocator keeps the peak of each of many threads. The image has the same bounds.
 */
export const MEMORY_ENVIRONMENT = {
  NODE_OPTIONS: '--max-old-space-size=1024 --max-semi-space-size=16',
  MALLOC_ARENA_MAX: '2',
} as const;

const URL_POLL_MS = 100;
const URL_LIMIT_MS = 2_000;
// After a child has run this long, its next restart begins with the shortest wait again.
const HEALTHY_AFTER_MS = 60_000;

/** Resolves when the child is ready; from then on it is restarted. Until then rejects with the end of its log. */
export async function startChild(options: ChildOptions): Promise<SupervisedChild> {
  const settings = withDefaults(options);
  const ownStop = new AbortController();
  const stopping = AbortSignal.any([ownStop.signal, settings.stopping]);
  const state: State = { current: undefined, stopping };
  const problem = await bringUp(settings, state);
  if (problem !== undefined) throw new Error(`${settings.name} did not start: ${problem}`);
  const supervision = superviseFrom(Date.now(), settings, state);
  return {
    pid: () => state.current?.pid,
    stop: async () => {
      ownStop.abort();
      const stopped = state.current;
      await stopped?.stop('SIGTERM', settings.stopLimitMs);
      await supervision;
      if (stopped) settings.onEvent({ type: 'stopped', pid: stopped.pid });
    },
  };
}

type State = { current: SupervisedProcess | undefined; readonly stopping: AbortSignal };

function withDefaults(options: ChildOptions): Settings {
  return {
    args: [],
    execArgv: process.execArgv,
    readyLimitMs: 60_000,
    stopLimitMs: 20_000,
    firstRestartMs: 250,
    longestRestartMs: 10_000,
    stopping: new AbortController().signal,
    onEvent: () => undefined,
    ...options,
  };
}

async function superviseFrom(readyAtMs: number, settings: Settings, state: State): Promise<void> {
  let restartInMs = settings.firstRestartMs;
  let upSinceMs = readyAtMs;
  let reason: string | undefined;
  for (;;) {
    const pid = state.current?.pid;
    reason ??= await endOf(state.current);
    if (isAborted(state.stopping)) return;
    state.current = undefined;
    if (Date.now() - upSinceMs > HEALTHY_AFTER_MS) restartInMs = settings.firstRestartMs;
    settings.onEvent({ type: 'died', pid, reason, restartInMs });
    await sleep(restartInMs, undefined, { signal: state.stopping }).catch(() => undefined);
    if (isAborted(state.stopping)) return;
    restartInMs = Math.min(restartInMs * 2, settings.longestRestartMs);
    upSinceMs = Date.now();
    reason = await bringUp(settings, state).catch((error: unknown) => String(error));
  }
}

/** Undefined if the child became ready; otherwise the reason, and the child has ended. */
async function bringUp(settings: Settings, state: State): Promise<string | undefined> {
  const attempt = await launch(settings);
  const child = attempt.process;
  state.current = child;
  settings.onEvent({ type: 'started', pid: child.pid });
  if (isAborted(state.stopping)) await child.stop('SIGKILL', 0);
  const waitEnded = new AbortController();
  const problem = await Promise.race([
    waitUntilReady(attempt, settings, waitEnded.signal),
    child.exited.then((exit: Exit) => `it ${describeExit(exit)} before it was ready`),
    sleep(settings.readyLimitMs, `it was not ready within ${settings.readyLimitMs / 1_000} s`, {
      signal: AbortSignal.any([waitEnded.signal, state.stopping]),
    }).catch(() => 'it was stopped before it was ready'),
  ]).finally(() => {
    waitEnded.abort();
  });
  if (problem === undefined) {
    settings.onEvent({ type: 'ready', pid: child.pid });
    return undefined;
  }
  await child.stop('SIGTERM', settings.stopLimitMs);
  return `${problem}. The end of ${settings.logFile ?? 'its output'}:\n${child.logTail()}`;
}

async function launch({ name, entry, args, execArgv, env, logFile }: Settings): Promise<Attempt> {
  let reportedReady: Promise<void> | undefined;
  const process = await superviseChild(name, logFile, (log) => {
    // Detached: Ctrl-C reaches the parent alone, which stops its children in order. The closed channel tells them when
    // it dies.
    const child = fork(entry, args, {
      execArgv: [...execArgv],
      env: { ...MEMORY_ENVIRONMENT, ...env },
      detached: true,
      stdio: ['ignore', log.fd, log.errorFd, 'ipc'],
    });
    reportedReady = readyMessageOf(child);
    return child;
  });
  return { process, reportedReady: reportedReady ?? Promise.reject(new Error(`${name} has no channel`)) };
}

function readyMessageOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (message === READY_MESSAGE) resolve();
    });
  });
}

async function waitUntilReady(attempt: Attempt, { ready }: Settings, signal: AbortSignal): Promise<undefined> {
  if (ready === 'message') {
    await attempt.reportedReady;
    return undefined;
  }
  while (!signal.aborted && !(await isResponding(ready.url))) await sleep(URL_POLL_MS);
  return undefined;
}

async function isResponding(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(URL_LIMIT_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
