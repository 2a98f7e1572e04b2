// Supervised children: ready, restarted, stopped, and never left behind.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  startChild,
  type ChildEvent,
  type ChildOptions,
  type SupervisedChild,
} from '../../src/engines/process/child-process.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { throwaway, until, untilGone } from './throwaway.ts';

describe('a supervised child', () => {
  const { folder, program, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  const events: ChildEvent[] = [];
  beforeEach(() => (events.length = 0));
  const eventTypes = (): string[] => events.map((event) => event.type);

  async function start(options: Partial<ChildOptions> = {}): Promise<SupervisedChild> {
    const child = await startChild({
      name: 'the server',
      entry: join(import.meta.dirname, 'programs', 'server.ts'),
      execArgv: ['--import', 'tsx'],
      env: {},
      logFile: join(folder(), 'server.log'),
      ready: 'message',
      firstRestartMs: 20,
      onEvent: (event) => events.push(event),
      ...options,
    });
    defer(() => child.stop());
    return child;
  }

  function pidOf(child: SupervisedChild): number {
    const pid = child.pid();
    assert.ok(pid !== undefined);
    return pid;
  }

  it('is ready when it reports so, and gone when it is stopped', async () => {
    const child = await start();
    const pid = pidOf(child);
    assert.ok(startOfProcess(pid));
    await child.stop();
    assert.equal(startOfProcess(pid), undefined);
    assert.deepEqual(eventTypes(), ['started', 'ready', 'stopped']);
  });

  it('is ready when its address responds', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    await start({ env: { PORT: String(port), BEHAVIOUR: 'silent' }, ready: { url } });
    assert.equal(await (await fetch(url)).text(), 'up');
  });

  it('fails with the end of its log when it ends before it is ready, and is not restarted', async () => {
    await assert.rejects(
      start({ env: { BEHAVIOUR: 'fail' } }),
      /the server did not start: it ended with code 3[^]*no, not today/,
    );
    assert.deepEqual(eventTypes(), ['started']);
  });

  it('is ended when it is not ready in time', async () => {
    await assert.rejects(start({ env: { BEHAVIOUR: 'silent' }, readyLimitMs: 700 }), /not ready within 0\.7 s/);
    const [started] = events;
    assert.ok(started?.type === 'started');
    assert.equal(startOfProcess(started.pid), undefined);
  });

  it('is restarted when it is killed', async () => {
    const child = await start();
    const first = pidOf(child);
    process.kill(first, 'SIGKILL');
    await until('it is ready again', () => eventTypes().filter((type) => type === 'ready').length === 2);
    const second = pidOf(child);
    assert.notEqual(second, first);
    assert.ok(startOfProcess(second));
    assert.deepEqual(events[2], { type: 'died', pid: first, reason: 'was ended by SIGKILL', restartInMs: 20 });
    assert.deepEqual(eventTypes(), ['started', 'ready', 'died', 'started', 'ready']);
  });

  it('waits longer before each further restart, up to a limit', async () => {
    const child = await start({ firstRestartMs: 20, longestRestartMs: 50 });
    for (let deaths = 1; deaths <= 3; deaths++) {
      process.kill(pidOf(child), 'SIGKILL');
      await until('it is ready again', () => eventTypes().filter((type) => type === 'ready').length === deaths + 1);
    }
    const waitsMs = events.flatMap((event) => (event.type === 'died' ? [event.restartInMs] : []));
    assert.deepEqual(waitsMs, [20, 40, 50]);
  });

  it('stays down when it is stopped during the wait before a restart', async () => {
    const child = await start({ firstRestartMs: 60_000, longestRestartMs: 60_000 });
    process.kill(pidOf(child), 'SIGKILL');
    await until('it has died', () => eventTypes().includes('died'));
    assert.equal(child.pid(), undefined);
    await child.stop();
    assert.equal(eventTypes().filter((type) => type === 'started').length, 1);
  });

  it('is killed when it ignores the stop', async () => {
    const child = await start({ env: { BEHAVIOUR: 'stubborn' }, stopLimitMs: 300 });
    const pid = pidOf(child);
    const stoppedAtMs = Date.now();
    await child.stop();
    assert.ok(Date.now() - stoppedAtMs >= 290, 'it was given its time');
    assert.equal(startOfProcess(pid), undefined);
  });

  it('inherits nothing from our environment', async () => {
    process.env['BEHAVIOUR'] = 'fail';
    defer(() => delete process.env['BEHAVIOUR']);
    await start({ env: {} });
  });

  it('exits cleanly when its parent is killed', async () => {
    const childFolder = folder();
    const note = join(childFolder, 'note');
    const parent = program('parent.ts', [childFolder, note]);
    const child = Number(await parent.nextLine());
    defer(() => startOfProcess(child) !== undefined && process.kill(child, 'SIGKILL'));
    assert.equal(existsSync(note), false);
    await parent.kill();
    await untilGone(child);
    assert.equal(readFileSync(note, 'utf8'), 'exited cleanly');
  });
});
