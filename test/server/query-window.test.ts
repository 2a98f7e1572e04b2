// How many status queries by schedule may be in flight.
import assert from 'node:assert/strict';
import { createQueryWindow } from '../../activities/query-window.ts';

describe('the number of status queries in flight', () => {
  let nowMs = 0;
  const windowOf = (max: number) => createQueryWindow({ max, roundMs: 100, nowMs: () => nowMs });
  const answer = (window: ReturnType<typeof windowOf>, times: number) => {
    for (let i = 0; i < times; i++) window.answered(true);
  };

  it('grows by about one for each window that is answered in time, up to the most', () => {
    const window = windowOf(8);
    assert.equal(window.size(), 4);
    answer(window, 5);
    assert.equal(window.size(), 5);
    answer(window, 1000);
    assert.equal(window.size(), 8);
  });

  it('is halved once a round when answers do not come, down to one, and grows again', () => {
    const window = windowOf(8);
    answer(window, 1000);
    for (let i = 0; i < 8; i++) window.answered(false);
    assert.equal(window.size(), 4);
    for (let round = 0; round < 5; round++) {
      nowMs += 100;
      window.answered(false);
    }
    assert.equal(window.size(), 1);
    answer(window, 3);
    assert.ok(window.size() >= 2);
  });

  it('is never more than the most', () => {
    assert.equal(windowOf(2).size(), 2);
  });
});
