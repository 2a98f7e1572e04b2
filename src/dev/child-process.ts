// Starts one of our own Node programs as a child, waits until it is ready, and starts it again when it dies unbidden.
import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { READY_MESSAGE } from './parent-link.ts';
import {
  describeExit,
  superviseChild,
  type Environment,
  type Exit,
  type SupervisedProcess,
} from './supervised-process.ts';

export type ChildEvent =
  | { readonly type: 'started'; readonly pid: number }
  | { readonly type: 'ready'; readonly pid: number }
  /** It ended unbidden, or was ended because it did not become ready. It is started again after `restartInMs`. */
  | { readonly type: 'died'; readonly pid: number | undefined; readonly reason: string; readonly restartInMs: number }
  | { readonly type: 'stopped'; readonly pid: number };

export type ChildOptions = {
  /** For messages: "the server". */
  readonly name: string;
  readonly entry: string;
  readonly args?: readonly string[];
  /** Options of Node itself; by default ours, so that a child of a process run by tsx can read TypeScript too. */
  readonly execArgv?: readonly string[];
  /** All of its environment: nothing is inherited. */
  readonly env: Environment;
  readonly logFile: string;
  /** `message`: it calls `reportReady`. With a URL: that answers with a 2xx. */
  readonly ready: 'message' | { readonly url: string };
  readonly readyLimitMs?: number;
  readonly stopLimitMs?: number;
  /** The wait before a restart doubles from the first to the longest. */
  readonly firstRestartMs?: number;
  readonly longestRestartMs?: number;
  readonly onEvent?: (event: ChildEvent) => void;
};

export type SupervisedChild = {
  /** Undefined while it is down. */
  pid(): number | undefined;
  /** SIGTERM, SIGKILL after `stopLimitMs`, and no restart. Resolves when the process is gone. */
  stop(): Promise<void>;
};

type Settings = Required<ChildOptions>;
type Attempt = { readonly process: SupervisedProcess; readonly saidReady: Promise<void> };

const URL_POLL_MS = 100;
const URL_LIMIT_MS = 2_000;
// A child that ran this long was well: its next death starts again with the shortest wait.
const WELL_AFTER_MS = 60_000;

/** Resolves when the child is ready. Rejects with the end of its log when it is not: only what once worked is restarted. */
export async function startChild(options: ChildOptions): Promise<SupervisedChild> {
  const settings = withDefaults(options);
  const state: State = { current: undefined, isStopping: false, wake: new AbortController() };
  const problem = await bringUp(settings, state);
  if (problem !== undefined) throw new Error(`${settings.name} did not start: ${problem}`);
  const supervision = superviseFrom(Date.now(), settings, state);
  return {
    pid: () => state.current?.pid,
    stop: async () => {
      state.isStopping = true;
      state.wake.abort();
      const stopped = state.current;
      await stopped?.stop('SIGTERM', settings.stopLimitMs);
      await supervision;
      if (stopped) settings.onEvent({ type: 'stopped', pid: stopped.pid });
    },
  };
}

type State = { current: SupervisedProcess | undefined; isStopping: boolean; readonly wake: AbortController };

function withDefaults(options: ChildOptions): Settings {
  return {
    args: [],
    execArgv: process.execArgv,
    readyLimitMs: 60_000,
    stopLimitMs: 20_000,
    firstRestartMs: 250,
    longestRestartMs: 10_000,
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
    if (isStopping(state)) return;
    state.current = undefined;
    if (Date.now() - upSinceMs > WELL_AFTER_MS) restartInMs = settings.firstRestartMs;
    settings.onEvent({ type: 'died', pid, reason, restartInMs });
    await sleep(restartInMs, undefined, { signal: state.wake.signal }).catch(() => undefined);
    if (isStopping(state)) return;
    restartInMs = Math.min(restartInMs * 2, settings.longestRestartMs);
    upSinceMs = Date.now();
    reason = await bringUp(settings, state).catch((error: unknown) => String(error));
  }
}

// A function, because the compiler takes a field it has once seen to be false for false ever after.
function isStopping(state: State): boolean {
  return state.isStopping;
}

async function endOf(process: SupervisedProcess | undefined): Promise<string> {
  return process ? describeExit(await process.exited) : 'it is not running';
}

/** Undefined when it became ready; else why not, and then it has ended. */
async function bringUp(settings: Settings, state: State): Promise<string | undefined> {
  const attempt = await launch(settings);
  const child = attempt.process;
  state.current = child;
  settings.onEvent({ type: 'started', pid: child.pid });
  if (state.isStopping) await child.stop('SIGKILL', 0);
  const givenUp = new AbortController();
  const problem = await Promise.race([
    waitUntilReady(attempt, settings, givenUp.signal),
    child.exited.then((exit: Exit) => `it ${describeExit(exit)} before it was ready`),
    sleep(settings.readyLimitMs, `it was not ready within ${settings.readyLimitMs / 1_000} s`, {
      signal: givenUp.signal,
    }),
  ]).finally(() => {
    givenUp.abort();
  });
  if (problem === undefined) {
    settings.onEvent({ type: 'ready', pid: child.pid });
    return undefined;
  }
  await child.stop('SIGTERM', settings.stopLimitMs);
  return `${problem}. The end of ${settings.logFile}:\n${child.logTail()}`;
}

async function launch({ name, entry, args, execArgv, env, logFile }: Settings): Promise<Attempt> {
  let saidReady: Promise<void> | undefined;
  const process = await superviseChild(name, logFile, (log) => {
    // Detached: Ctrl-C goes to the parent alone, which stops its children in order. The channel tells them of its death.
    const child = fork(entry, args, {
      execArgv: [...execArgv],
      env,
      detached: true,
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
    });
    saidReady = readyMessageOf(child);
    return child;
  });
  return { process, saidReady: saidReady ?? Promise.reject(new Error(`${name} has no channel`)) };
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
    await attempt.saidReady;
    return undefined;
  }
  while (!signal.aborted && !(await answers(ready.url))) await sleep(URL_POLL_MS);
  return undefined;
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(URL_LIMIT_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
