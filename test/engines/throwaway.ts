// Folders and processes for a test, all removed after it.
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithThisProcess } from '../../src/engines/process/parent-guard.ts';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import type { Environment } from '../../src/engines/process/supervised-process.ts';

export type Throwaway = {
  /** A new folder that PostgreSQL's account can enter when the tests run as root. */
  readonly folder: () => string;
  /** Starts one of the programs beside this file with tsx. */
  readonly program: (name: string, args?: readonly string[]) => RunningProgram;
  /** Starts any other command. */
  readonly command: (command: string, args: readonly string[], env?: Environment) => RunningProgram;
  /** Registers a clean-up that runs before the folders are removed, newest first. */
  readonly defer: (cleanUp: () => unknown) => void;
  /** Removes all of it; for afterEach. */
  readonly cleanUp: () => Promise<void>;
};

export type RunningProgram = {
  readonly pid: number;
  readonly process: ChildProcess;
  /** The next line it prints. */
  readonly nextLine: () => Promise<string>;
  readonly kill: () => Promise<void>;
};

export function throwaway(): Throwaway {
  let undo: (() => unknown)[] = [];
  const start = (command: string, args: readonly string[], env: Environment = process.env): RunningProgram => {
    const running = run(command, args, env);
    undo.push(() => running.kill());
    return running;
  };
  return {
    folder: () => {
      const folder = mkdtempSync(join(tmpdir(), 'malipo-test-'));
      chmodSync(folder, 0o711);
      undo.push(() => {
        rmSync(folder, { recursive: true, force: true });
      });
      return folder;
    },
    program: (name, args = []) =>
      start(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'programs', name), ...args]),
    command: start,
    defer: (cleanUp) => undo.push(cleanUp),
    cleanUp: async () => {
      const steps = undo.reverse();
      undo = [];
      for (const step of steps) await step();
    },
  };
}

function run(command: string, args: readonly string[], env: Environment): RunningProgram {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  endWithThisProcess(child, { signal: 'SIGKILL', limitMs: 0 });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.pid === undefined) throw new Error(`${command} could not be started`);
  return {
    pid: child.pid,
    process: child,
    nextLine: async () => {
      const line = await lines.next();
      if (line.done) throw new Error(`${command} ${args.join(' ')} ended without a further line`);
      return line.value;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A shell script that can be run, such as a stand-in for a program on the PATH. */
export function writeScript(file: string, lines: readonly string[]): string {
  writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  return file;
}

export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 10_000,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(20);
  }
}

export async function untilGone(pid: number): Promise<void> {
  await until(`process ${pid} is gone`, () => startOfProcess(pid) === undefined);
}
