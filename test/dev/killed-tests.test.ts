// Runs of the tests that are ended by a signal: their engines end with them, whatever the signal.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endWithThisProcess } from '../../src/engines/process/parent-guard.ts';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { throwaway, until } from '../engines/throwaway.ts';

const LIMIT_MS = 90_000;

type Run = { readonly pid: number; readonly pids: readonly number[]; readonly folder: string };

describe('a run of the tests that is ended', function () {
  this.timeout(3 * LIMIT_MS);
  const { folder, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  /** Resolves when its engines run. */
  async function start(): Promise<Run> {
    const root = findProjectRoot();
    const mocha = spawn(join(root, 'node_modules/.bin/mocha'), ['test/engines/programs/endless-tests.ts'], {
      cwd: root,
      // None of its engines was another's.
      env: { ...process.env, MALIPO_ENGINES_FOLDER: folder() },
      // In a group of its own, as `npm test` runs it.
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    endWithThisProcess(mocha, { signal: 'SIGTERM', limitMs: LIMIT_MS });
    const ended = once(mocha, 'exit');
    for await (const line of createInterface(mocha.stdout)) {
      if (!line.startsWith('{')) continue;
      const { pids, folder } = JSON.parse(line) as Pick<Run, 'pids' | 'folder'>;
      defer(async () => {
        for (const pid of [mocha.pid!, ...pids]) if (startOfProcess(pid) !== undefined) process.kill(pid, 'SIGKILL');
        await ended;
        rmSync(folder, { recursive: true, force: true });
      });
      return { pid: mocha.pid!, pids, folder };
    }
    throw new Error('mocha ended without starting the engines');
  }

  async function untilAllGone({ pids }: Run): Promise<void> {
    const areGone = (): boolean => pids.every((pid) => startOfProcess(pid) === undefined);
    await until('the tests and their engines have ended', areGone, LIMIT_MS);
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`by ${signal} to mocha stops its engines and removes their folder`, async () => {
      const run = await start();
      process.kill(run.pid, signal);
      await untilAllGone(run);
      assert.equal(existsSync(run.folder), false);
    });
  }

  it('by SIGKILL to all of mocha leaves no engine running', async () => {
    const run = await start();
    process.kill(-run.pid, 'SIGKILL');
    await untilAllGone(run);
  });
});
