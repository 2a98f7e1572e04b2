// When a campaign pulls the plug, and from what.
import assert from 'node:assert/strict';
import { randomOf } from '../../chaos/random.ts';
import { schedulePulls, type Plug } from '../../chaos/schedule.ts';

const PULLS = 50;
const DURATION_MS = 900_000;

function pullsOf(seed: string, plug: Plug = 'engines') {
  return schedulePulls({ pulls: PULLS, plug, durationMs: DURATION_MS }, randomOf(seed, 'faults'));
}

describe('schedulePulls', () => {
  it('pulls the plug as often as asked, at the same moments for the same seed and at others for another', () => {
    assert.equal(pullsOf('7').length, PULLS);
    assert.deepEqual(pullsOf('7'), pullsOf('7'));
    assert.notDeepEqual(pullsOf('7'), pullsOf('8'));
  });

  it('leaves half of the mean gap between two pulls, and ends within the campaign', () => {
    const moments = pullsOf('7').map(({ atMs }) => atMs);
    const gapsMs = moments.slice(1).map((atMs, index) => atMs - (moments[index] ?? 0));
    assert.ok(Math.min(...gapsMs) > (0.98 * DURATION_MS) / PULLS / 2, `gaps of ${gapsMs.join(', ')}`);
    assert.ok(moments.every((atMs) => atMs > 0 && atMs < DURATION_MS));
  });

  it('pulls that of the database alone when asked for it', () => {
    const kinds = (plug: Plug) => [...new Set(pullsOf('7', plug).map(({ kind }) => kind))];
    assert.deepEqual([kinds('engines'), kinds('database')], [['plug_of_engines_pulled'], ['plug_of_database_pulled']]);
  });
});
