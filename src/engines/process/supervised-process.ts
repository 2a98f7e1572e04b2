// A child process of ours: out of reach of the terminal's Ctrl-C, logging to a file, with its exit as a promise.
import { spawn, type ChildProcess } from 'node:child_process';
import { openLogFile, OWN_OUTPUT, type LogFile } from './log-file.ts';
import { endWithThisProcess, type EndOfChild } from './parent-guard.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Exit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
};

export type SupervisedProcess = {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  exit(): Exit | undefined;
  logTail(): string;
  /** Sends `signal`, and SIGKILL after `limitMs`; resolves when the process has ended, at once if it had already. */
  stop(signal: NodeJS.Signals, limitMs: number): Promise<Exit>;
};

export type Account = { readonly uid: number; readonly gid: number };

export type LaunchOptions = {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited. */
  readonly env: Environment;
  readonly cwd?: string;
  /** By default the account of this process. */
  readonly account?: Account | undefined;
  readonly logFile: string;
  /** How it is ended if this process is killed. `stays`: something else ends it then, such as the next start. */
  readonly ifParentDies: EndOfChild | 'stays';
};

/** A running server program. */
export type Engine = {
  readonly pid: number;
  /** Resolves when the process has ended, for any reason. */
  readonly exited: Promise<Exit>;
  stop(): Promise<void>;
};

/** The start options of every engine. */
export type EngineOptions = {
  readonly logFile: string;
  readonly readyLimitMs?: number;
  /** Called as soon as the process exists, before it is ready. */
  readonly onSpawn?: (pid: number) => void;
  /** Ends the start: the process is stopped, and the start rejects. */
  readonly signal?: AbortSignal;
  /** It keeps running if this process is killed, until something else ends it, such as the next start on its folder. */
  readonly outlivesParent?: boolean;
};

type EngineProgram = Pick<LaunchOptions, 'command' | 'args' | 'env' | 'cwd' | 'account'> & { readonly end: EndOfChild };

/** Resolves when `untilReady` does. Rejects when that rejects; then no process is left. */
export async function launchEngine(
  { end, ...program }: EngineProgram,
  { logFile, onSpawn, outlivesParent }: EngineOptions,
  untilReady: (server: SupervisedProcess) => Promise<void>,
): Promise<Engine> {
  const server = await launchProcess({ ...program, logFile, ifParentDies: outlivesParent ? 'stays' : end });
  onSpawn?.(server.pid);
  const stop = async (): Promise<void> => {
    await server.stop(end.signal, end.limitMs);
  };
  try {
    await untilReady(server);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: server.pid, exited: server.exited, stop };
}

/** Starts a program in its own session, so that Ctrl-C reaches only the parent, which stops children in order. */
export async function launchProcess({
  command,
  args,
  env,
  logFile,
  cwd,
  account,
  ifParentDies,
}: LaunchOptions): Promise<SupervisedProcess> {
  return superviseChild(command, logFile, (log) => {
    const child = spawn(command, args, {
      env,
      detached: true,
      stdio: ['ignore', log.fd, log.errorFd],
      ...(cwd === undefined ? {} : { cwd }),
      ...(account ?? {}),
    });
    if (ifParentDies !== 'stays') endWithThisProcess(child, ifParentDies);
    return child;
  });
}

/** Watches the child that `start` creates with the log file; null: with our output. Rejects if it cannot start. */
export async function superviseChild(
  name: string,
  logFile: string | null,
  start: (log: LogFile) => ChildProcess,
): Promise<SupervisedProcess> {
  const log = logFile === null ? OWN_OUTPUT : openLogFile(logFile);
  let child: ChildProcess;
  try {
    child = start(log);
  } finally {
    log.close();
  }
  let ended: Exit | undefined;
  const exited = exitOf(child).then((exit) => (ended = exit));
  const { pid } = child;
  if (pid === undefined)
    throw new Error(`${name} could not be started: ${(await exited).error?.message ?? 'no reason given'}`);
  return {
    pid,
    exited,
    exit: () => ended,
    logTail: () => log.tail(),
    stop: async (signal, limitMs) => {
      if (ended) return ended;
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
      return exited.finally(() => {
        clearTimeout(timer);
      });
    },
  };
}

/** A function, because the compiler keeps treating a field as false after it was checked once. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Resolves with how it ended; at once if there is none. */
export async function endOf(ended: Pick<SupervisedProcess, 'exited'> | undefined): Promise<string> {
  return ended ? describeExit(await ended.exited) : 'it is not running';
}

export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `ended with code ${code ?? 'unknown'}` : `was ended by ${signal}`;
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
    // Also emitted for a signal or a message that could not be sent, when the process may still run.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });
}
