// Replays, as they are told of.
import assert from 'node:assert/strict';
import { MAX_REPLAY_TOTAL, replayTotalText } from '../../../src/domain/webhooks/replay.ts';

describe('how many deliveries a replay is of', () => {
  it('is told to the number as far as they are counted, and then as that many or more', () => {
    assert.deepEqual([0, 999_999, MAX_REPLAY_TOTAL].map(replayTotalText), ['0', '999999', '1000000 or more']);
  });
});
