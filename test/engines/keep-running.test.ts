// Engines that are started again when they die, with real processes in their place.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepRunning, type KeepRunningOptions, type KeptRunning } from '../../src/engines/process/keep-running.ts';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { launchProcess, type Engine } from '../../src/engines/process/supervised-process.ts';
import { throwaway, until, untilGone } from './throwaway.ts';

describe('an engine that is kept running', () => {
  const { folder, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  const reported: string[] = [];
  let pids: number[] = [];
  let stopping: AbortController;
  beforeEach(() => {
    reported.length = 0;
    pids = [];
    stopping = new AbortController();
  });

  async function launch(command = 'sleep 60'): Promise<Engine> {
    const process = await launchProcess({
      command: '/bin/sh',
      args: ['-c', `exec ${command}`],
      env: { PATH: '/usr/bin:/bin' },
      logFile: join(folder(), 'engine.log'),
      ifParentDies: { signal: 'SIGKILL', limitMs: 0 },
    });
    pids.push(process.pid);
    const stop = async (): Promise<void> => {
      await process.stop('SIGTERM', 10_000);
    };
    defer(stop);
    return { pid: process.pid, exited: process.exited, stop };
  }

  async function keep(options: Partial<KeepRunningOptions> = {}): Promise<KeptRunning> {
    const kept = keepRunning(await launch(), {
      name: 'the engine',
      logFile: '/the/engine.log',
      start: () => launch(),
      report: (line) => reported.push(line),
      stopping: stopping.signal,
      firstRestartMs: 20,
      longestRestartMs: 50,
      ...options,
    });
    defer(() => kept.stop());
    return kept;
  }

  const die = (): void => {
    process.kill(pids.at(-1)!, 'SIGKILL');
  };

  it('is restarted whenever it is killed, after a growing wait', async () => {
    const kept = await keep();
    for (let deaths = 1; deaths <= 3; deaths++) {
      die();
      await until('it runs again', () => reported.filter((line) => line.includes('runs again')).length === deaths);
    }
    assert.deepEqual(
      reported.filter((line) => line.includes('died')),
      [20, 40, 50].map((ms) => `the engine died (was ended by SIGKILL); it is started again in ${ms} ms`),
    );
    await kept.stop();
    assert.equal(startOfProcess(pids.at(-1)!), undefined);
  });

  it('is started again when a restart failed, and reports the first line of the reason', async () => {
    let tries = 0;
    await keep({
      start: () => {
        tries += 1;
        return tries === 1 ? Promise.reject(new Error('the port is taken\nits log')) : launch();
      },
    });
    die();
    await until('it runs again', () => reported.at(-1)?.includes('runs again') === true);
    assert.equal(reported[1], 'the engine died (the port is taken); it is started again in 40 ms');
  });

  it('is given up with one line that names its log, when it fails too often', async () => {
    const kept = await keep({ start: () => Promise.reject(new Error('no')), mostFailures: 4, failureWindowMs: 90_000 });
    die();
    await assert.rejects(kept.failed, {
      message:
        'the engine failed 4 times within 90 s and is not started again (at last: no); its log is /the/engine.log',
    });
    assert.equal(reported.length, 3);
    await kept.stop();
  });

  it('is given up when start after start fails, however long each takes', async () => {
    const kept = await keep({
      start: async () => {
        // Longer than the time in which failures are counted together.
        await sleep(30);
        throw new Error('it was not ready in time');
      },
      mostFailures: 4,
      failureWindowMs: 10,
    });
    die();
    await assert.rejects(kept.failed, {
      message:
        'the engine failed 4 times, never running for 15 s in between, and is not started again (at last: it was not ' +
        'ready in time); its log is /the/engine.log',
    });
    assert.equal(reported.length, 3);
  });

  it('is given up when it dies soon after every start', async () => {
    const kept = await keep({ start: () => launch('sleep 0.03'), mostFailures: 3, failureWindowMs: 10 });
    die();
    await assert.rejects(kept.failed, /failed 3 times, never running for 15 s in between.*ended with code 0/);
  });

  it('is not given up while it runs for its healthy time between its failures', async () => {
    const kept = await keep({ mostFailures: 3, failureWindowMs: 10, healthyAfterMs: 100 });
    for (let deaths = 1; deaths <= 4; deaths++) {
      await sleep(150);
      die();
      await until('it runs again', () => reported.filter((line) => line.includes('runs again')).length === deaths);
    }
    await kept.stop();
  });

  it('is not started again when it dies while everything stops', async () => {
    const kept = await keep();
    stopping.abort();
    die();
    await untilGone(pids[0]!);
    await kept.stop();
    assert.deepEqual([reported, pids.length], [[], 1]);
  });

  it('is not started again when the stop comes during the wait', async () => {
    const kept = await keep({ firstRestartMs: 60_000, longestRestartMs: 60_000 });
    die();
    await until('it has died', () => reported.length === 1);
    stopping.abort();
    await kept.stop();
    assert.equal(pids.length, 1);
  });

  it('leaves no process when the stop comes during a start', async () => {
    let goOn: () => void = () => undefined;
    const isStarting = new Promise<void>((resolve) => (goOn = resolve));
    const kept = await keep({
      start: async (signal) => {
        const engine = await launch();
        goOn();
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve);
        });
        return engine;
      },
    });
    die();
    await isStarting;
    await kept.stop();
    for (const pid of pids) assert.equal(startOfProcess(pid), undefined);
    assert.equal(reported.filter((line) => line.includes('runs again')).length, 0);
  });
});
