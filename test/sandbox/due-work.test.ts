// When due work runs, and how a stop affects it.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createDueWork } from '../../src/sandbox/due-work.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('due work', () => {
  let ran: string[];

  beforeEach(() => {
    ran = [];
    mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  });

  afterEach(() => {
    mock.timers.reset();
  });

  function note(key: string): Promise<void> {
    ran.push(key);
    return Promise.resolve();
  }

  function unexpected(error: unknown): void {
    throw error;
  }

  it('runs at its time and not before, and at once when its time has passed', () => {
    const work = createDueWork(note, unexpected);
    work.schedule('soon', Date.now() + 100);
    work.schedule('late', Date.now() - 100);
    mock.timers.tick(99);
    assert.deepEqual(ran, ['late']);
    mock.timers.tick(1);
    assert.deepEqual(ran, ['late', 'soon']);
  });

  it('runs once when its time is changed, and not at all when it is cancelled', () => {
    const work = createDueWork(note, unexpected);
    work.schedule('moved', Date.now() + 10);
    work.schedule('moved', Date.now() + 50);
    work.schedule('cancelled', Date.now() + 10);
    work.cancel('cancelled');
    work.cancel('never there');
    mock.timers.tick(49);
    assert.deepEqual(ran, []);
    mock.timers.tick(100);
    assert.deepEqual(ran, ['moved']);
  });

  it('waits during a stop for the promises it follows, and reports their rejections', async () => {
    const errors: unknown[] = [];
    const work = createDueWork(note, (error) => errors.push(error));
    work.follow(Promise.reject(new Error('broken')));
    await work.stop();
    assert.deepEqual(errors, [new Error('broken')]);
  });

  it('waits for a time that is further away than the longest timer', () => {
    const work = createDueWork(note, unexpected);
    work.schedule('far', Date.now() + 30 * DAY_MS);
    mock.timers.tick(30 * DAY_MS - 1);
    assert.deepEqual(ran, []);
    mock.timers.tick(1);
    assert.deepEqual(ran, ['far']);
  });

  it('reports the errors that it throws', async () => {
    const errors: unknown[] = [];
    const work = createDueWork(
      () => Promise.reject(new Error('broken')),
      (error) => errors.push(error),
    );
    work.schedule('key', Date.now());
    mock.timers.tick(1);
    await work.stop();
    assert.deepEqual(errors, [new Error('broken')]);
  });

  it('is finished when a stop resolves, and nothing starts afterwards', async () => {
    let finish: () => void = () => undefined;
    const work = createDueWork((key) => {
      ran.push(`${key} starts`);
      return new Promise((resolve) => {
        finish = () => {
          ran.push(`${key} ends`);
          resolve();
        };
      });
    }, unexpected);
    const running = work.run('first');
    work.schedule('second', Date.now() + 10);
    const stopped = work.stop().then(() => ran.push('stopped'));
    work.schedule('third', Date.now());
    await work.run('fourth');
    mock.timers.tick(20);
    finish();
    await Promise.all([running, stopped]);
    assert.deepEqual(ran, ['first starts', 'first ends', 'stopped']);
  });

  it('leaves no timer behind when it is stopped', async () => {
    mock.timers.reset();
    // The test runner starts its own timer when it sees that this test is asynchronous.
    await Promise.resolve();
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const work = createDueWork(note, unexpected);
    work.schedule('far', Date.now() + DAY_MS);
    assert.equal(timers(), before + 1);
    await work.stop();
    assert.equal(timers(), before);
  });
});
