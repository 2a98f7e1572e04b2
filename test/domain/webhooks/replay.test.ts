// Tests the text that tells how many deliveries a replay matches.
import assert from 'node:assert/strict';
import { MAX_REPLAY_TOTAL, replayTotalText } from '../../../src/domain/webhooks/replay.ts';

describe('the total of a replay', () => {
  it('is shown exactly up to the counting limit, and then as that many or more', () => {
    assert.deepEqual([0, 999_999, MAX_REPLAY_TOTAL].map(replayTotalText), ['0', '999999', '1000000 or more']);
  });
});
