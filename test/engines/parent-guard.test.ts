// Engines whose parent is killed: they cannot notice it themselves, and are ended nevertheless.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { launchProcess } from '../../src/engines/process/supervised-process.ts';
import { throwaway, until, untilGone } from './throwaway.ts';

const PATH = '/usr/bin:/bin';

describe('an engine whose parent is killed', () => {
  const { folder, program, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  /** Resolves with its number once its parent is gone. */
  async function orphan(command: string, ...limitMs: string[]): Promise<number> {
    const parent = program('engine-parent.ts', [folder(), command, ...limitMs]);
    const pid = Number(await parent.nextLine());
    defer(() => startOfProcess(pid) !== undefined && process.kill(pid, 'SIGKILL'));
    await parent.kill();
    return pid;
  }

  it('gets its signal, and the time to stop cleanly', async () => {
    const note = join(folder(), 'note');
    await untilGone(
      await orphan(`trap 'sleep 0.2; touch ${note}; exit 0' TERM; while :; do sleep 0.05; done`, '60000'),
    );
    assert.ok(existsSync(note));
  });

  it('is killed when it goes on regardless', async () => {
    await untilGone(await orphan(`trap '' TERM; while :; do sleep 0.05; done`, '1000'));
  });

  it('is left running if something else ends it', async () => {
    const pid = await orphan('exec sleep 60');
    // Started later by a parent that is killed later: whatever ends engines had its turn with the first one too.
    await untilGone(await orphan('exec sleep 60', '60000'));
    assert.ok(startOfProcess(pid) !== undefined);
  });

  it('has no guard any more once it has ended', async () => {
    const ownChildren = (): number =>
      spawnSync('ps', ['-A', '-o', 'ppid='], { encoding: 'utf8', env: { PATH } })
        .stdout.split('\n')
        .filter((ppid) => Number(ppid) === process.pid).length;
    const before = ownChildren();
    const options = { command: '/bin/sleep', args: ['60'], env: {}, logFile: join(folder(), 'engine.log') };
    const engine = await launchProcess({ ...options, ifParentDies: { signal: 'SIGTERM', limitMs: 60_000 } });
    defer(() => engine.stop('SIGKILL', 0));
    assert.equal(ownChildren(), before + 2);
    await engine.stop('SIGTERM', 10_000);
    await until('the guard has ended', () => ownChildren() === before);
  });
});
