// Identified processes: exactly the right one is ended.
import assert from 'node:assert/strict';
import {
  commandLineOf,
  endProcess,
  identifyProcess,
  isRunning,
  startOfProcess,
} from '../../src/engines/process/process-identity.ts';
import { throwaway } from './throwaway.ts';

describe('the identity of a process', () => {
  const { command, cleanUp } = throwaway();
  afterEach(cleanUp);

  it('serves to end the process', async () => {
    const sleeper = command('sleep', ['60']);
    const identity = identifyProcess(sleeper.pid);
    assert.ok(identity);
    assert.equal(await endProcess(identity), true);
    assert.equal(isRunning(identity), false);
    await sleeper.kill();
    assert.equal(sleeper.process.signalCode, 'SIGTERM');
  });

  it('protects a later process with the same number', async () => {
    const { pid } = command('sleep', ['60']);
    const before = startOfProcess(pid);
    assert.equal(await endProcess({ pid, startedAt: `${before ?? ''}1` }), false);
    assert.equal(startOfProcess(pid), before);
  });

  it('differs between processes with different start times', async () => {
    const first = command('sleep', ['60']);
    const firstStart = startOfProcess(first.pid);
    // Starts are told in hundredths of a second on Linux, in whole ones elsewhere.
    await new Promise((resolve) => setTimeout(resolve, process.platform === 'linux' ? 50 : 1_100));
    assert.notEqual(startOfProcess(command('sleep', ['60']).pid), firstStart);
    assert.equal(startOfProcess(first.pid), firstStart);
  });

  it('serves to kill a process that ignores the signal', async () => {
    const stubborn = command('sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 0.05; done']);
    await stubborn.nextLine();
    const identity = identifyProcess(stubborn.pid);
    assert.ok(identity);
    assert.equal(await endProcess(identity, 'SIGTERM', 200), true);
    await stubborn.kill();
    assert.equal(stubborn.process.signalCode, 'SIGKILL');
  });

  it('does not exist for a zombie', async () => {
    // The child ends only after its parent has become a program that never waits for it.
    const child = '(until ps -o comm= -p $$ | grep -q sleep; do sleep 0.01; done)';
    const parent = command('sh', ['-c', `${child} & echo $!; exec sleep 60`]);
    const zombie = Number(await parent.nextLine());
    while (startOfProcess(zombie) !== undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(process.kill(zombie, 0), true, 'the number is still taken');
  });

  it('comes with the command line', () => {
    const { pid } = command('sleep', ['60']);
    assert.deepEqual(commandLineOf(pid).slice(0, 2), ['sleep', '60']);
    assert.deepEqual(commandLineOf(2 ** 22 + 1), []);
  });
});
