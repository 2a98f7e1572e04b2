// Work at the start of a process: retried until it succeeds, and not after the process stops.
import assert from 'node:assert/strict';
import { keepTrying } from '../../src/server/keep-trying.ts';
import { testLog } from '../support/engines.ts';
import { eventually } from '../support/test-environment.ts';

describe('retried work', () => {
  const failure = 'the test could not be done';

  it('is repeated after each failure until it succeeds, and then no more', async () => {
    let tries = 0;
    const work = () => {
      tries += 1;
      return tries < 4 ? Promise.reject(new Error('not yet')) : Promise.resolve();
    };
    const kept = keepTrying({ failure, work, log: testLog, pauseMs: 1 });
    await eventually('the success', () => tries === 4);
    await kept.stop();
    assert.equal(tries, 4);
  });

  it('is also repeated after each success if requested, until it is stopped', async () => {
    let tries = 0;
    const work = () => {
      tries += 1;
      return tries % 2 === 0 ? Promise.reject(new Error('now and then')) : Promise.resolve();
    };
    const kept = keepTrying({ failure, work, log: testLog, pauseMs: 1, repeatEveryMs: 1 });
    await eventually('five tries', () => tries >= 5);
    await kept.stop();
    const triesAtItsStop = tries;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(tries, triesAtItsStop);
  });

  it('ends during a pause when it is stopped', async () => {
    let tries = 0;
    const work = () => {
      tries += 1;
      return Promise.reject(new Error('never'));
    };
    const kept = keepTrying({ failure, work, log: testLog, pauseMs: 3_600_000 });
    await eventually('the first failure', () => tries === 1);
    await kept.stop();
    assert.equal(tries, 1);
  });
});
