// Runs an environment's server as a child process, which a test can kill without harm to itself.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { READY_MESSAGE } from '../../src/engines/process/parent-link.ts';
import { describeExit, superviseChild, type Exit } from '../../src/engines/process/supervised-process.ts';
import { build, builtFile } from './build.ts';
import type { CrashPoint } from './crash-points.ts';
import { runFolder } from './engines.ts';
import type { TestEnvironment } from './test-environment.ts';

export type ServerChild = {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Fails unless the process is killed, by itself at its crash point, within `limitMs`. */
  dies(limitMs?: number): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Sends SIGTERM and returns how the process ended; kills it when that takes longer than `limitMs`. */
  stop(limitMs?: number): Promise<Exit>;
};

export type ServerChildOptions = {
  readonly crashPoint?: CrashPoint;
  readonly overrides?: Readonly<Record<string, string>>;
  /** Where it writes its log, if a test reads that. */
  readonly logFile?: string;
};

const ENTRY = fileURLToPath(new URL('server-process.mjs', import.meta.url));
const STOP_LIMIT_MS = 60_000;
const CRASH_LIMIT_MS = 90_000;

/** Resolves when the server is ready. The child ends with this process at the latest. */
export async function startServerChild(
  testEnv: TestEnvironment,
  options: ServerChildOptions = {},
): Promise<ServerChild> {
  await build();
  const env = {
    ...testEnv.environment,
    ...options.overrides,
    TEST_SERVER: builtFile('dist/src'),
    TEST_CRASH_POINT: JSON.stringify(options.crashPoint ?? null),
    TEST_WORKFLOW_BUNDLE: builtFile('dist/workflow-bundle.js'),
  };
  let ready: Promise<void> | undefined;
  const child = await superviseChild('server', options.logFile ?? join(runFolder(), 'server-child.log'), (log) => {
    const forked = fork(ENTRY, { env, execArgv: [], detached: true, stdio: ['ignore', log.fd, log.fd, 'ipc'] });
    ready = new Promise((resolve) => {
      forked.on('message', (message) => {
        if (message === READY_MESSAGE) resolve();
      });
    });
    return forked;
  });
  const died = child.exited.then(() => {
    throw new Error(`the server ended before it was ready:\n${child.logTail()}`);
  });
  died.catch(() => undefined);
  await Promise.race([ready, died]);
  return {
    pid: child.pid,
    exited: child.exited,
    async dies(limitMs = CRASH_LIMIT_MS) {
      const exit = await Promise.race([child.exited, sleep(limitMs, null, { ref: false })]);
      if (exit?.signal === 'SIGKILL') return;
      await child.stop('SIGKILL', STOP_LIMIT_MS);
      throw new Error(exit === null ? 'the server never came to its crash point' : `the server ${describeExit(exit)}`);
    },
    async kill() {
      await child.stop('SIGKILL', STOP_LIMIT_MS);
    },
    stop: (limitMs = STOP_LIMIT_MS) => child.stop('SIGTERM', limitMs),
  };
}
