// The engines that a run of the tests leaves to the next one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endWithThisProcess } from '../../src/engines/process/parent-guard.ts';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { throwaway, until } from '../engines/throwaway.ts';

const LIMIT_MS = 90_000;

type Found = { readonly pids: readonly number[]; readonly found: readonly string[]; readonly setting: string };
type Run = Found & { readonly end: () => Promise<void> };

describe('the engines of a run of the tests', function () {
  this.timeout(3 * LIMIT_MS);
  const root = findProjectRoot();
  const { folder, command, defer, cleanUp } = throwaway();
  let keepers: string;
  beforeEach(() => (keepers = folder()));
  afterEach(cleanUp);

  const environment = () => ({ ...process.env, MALIPO_ENGINES_FOLDER: keepers });

  /** Resolves when it has its engines. */
  async function start(): Promise<Run> {
    const mocha = spawn(join(root, 'node_modules/.bin/mocha'), ['test/engines/programs/short-tests.ts'], {
      cwd: root,
      env: environment(),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endWithThisProcess(mocha, { signal: 'SIGTERM', limitMs: LIMIT_MS });
    const ended = once(mocha, 'exit');
    for await (const line of createInterface(mocha.stdout)) {
      if (!line.startsWith('{')) continue;
      const found = JSON.parse(line) as Found;
      defer(() => {
        for (const pid of found.pids) if (startOfProcess(pid) !== undefined) process.kill(pid, 'SIGKILL');
      });
      const end = async (): Promise<void> => {
        mocha.stdin.end();
        mocha.stdout.resume();
        assert.deepEqual(await ended, [0, null]);
      };
      return { ...found, end };
    }
    throw new Error('mocha ended without its engines');
  }

  const run = async (): Promise<Found> => {
    const { end, ...found } = await start();
    await end();
    return found;
  };

  const areRunning = ({ pids }: Found): boolean => pids.every((pid) => startOfProcess(pid) !== undefined);
  const areGone = ({ pids }: Found): boolean => pids.every((pid) => startOfProcess(pid) === undefined);

  async function engines(...args: string[]): Promise<string> {
    const tool = command(
      process.execPath,
      ['--import=tsx/esm', join(root, 'tools/engines.ts'), ...args],
      environment(),
    );
    let printed = '';
    for await (const line of createInterface(tool.process.stdout!)) printed += `${line}\n`;
    return printed;
  }

  it('are those of the run before, which left nothing there', async () => {
    const first = await run();
    assert.ok(areRunning(first));
    assert.deepEqual(await run(), first);
  });

  it('are others while a run uses them, and end on request once no run uses them', async () => {
    const first = await start();
    const second = await run();
    assert.notDeepEqual(second.pids, first.pids);
    assert.match(await engines(), /of a run that goes on/);
    assert.match(await engines('stop'), /stopped/);
    await until('the free ones have ended', () => areGone(second), LIMIT_MS);
    assert.ok(areRunning(first));
    await first.end();
    await engines('stop');
    assert.ok(areGone(first));
    assert.equal(await engines(), 'no engines run\n');
  });

  it('end when the folder of their sockets is removed, as at the end of all tests', async () => {
    const first = await run();
    rmSync(keepers, { recursive: true });
    await until('they have ended', () => areGone(first), LIMIT_MS);
  });
});
