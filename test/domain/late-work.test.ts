// When started work is checked, and which runs cannot progress.
import assert from 'node:assert/strict';
import { DEMO_CLOCKS, REAL_CLOCKS } from '../../src/domain/clocks.ts';
import { newId } from '../../src/domain/ids.ts';
import { firstCheckMs, nextCheckMs, stuckReason, type OpenRun, type Work } from '../../src/domain/work.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const AT = new Date('2026-11-22T06:00:00Z');

const merchantId = newId('mer');
const operator = 'mtn-momo';
const collection = (state: 'initiated' | 'prompted' | 'reconciling'): Work => ({
  kind: 'collection',
  id: newId('col'),
  merchantId,
  operator,
  state,
  idempotencyKey: 'key',
  updatedAt: AT,
});
const payout = (state: 'queued' | 'released', expiresAt = new Date(AT.getTime() + HOUR)): Work => ({
  kind: 'payout',
  id: newId('pay'),
  merchantId,
  operator,
  state,
  idempotencyKey: 'key',
  updatedAt: AT,
  expiresAt,
});
const delivery: Work = {
  kind: 'delivery',
  id: newId('dlv'),
  merchantId,
  endpointId: newId('whe'),
  replayCount: 0,
  nextAttemptAt: new Date(AT.getTime() + HOUR),
};

describe('the check of started work', () => {
  for (const [name, clocks] of [
    ['real', REAL_CLOCKS],
    ['demo', DEMO_CLOCKS],
  ] as const) {
    it(`comes several times before the deadline of a send, with ${name} clocks`, () => {
      for (const [work, deadlineMs] of [
        [collection('initiated'), clocks.promptDeadlineMs],
        [payout('released'), clocks.payoutSendDeadlineMs],
      ] as const) {
        let [checks, passedMs] = [0, firstCheckMs(work, AT, clocks)];
        while (passedMs < deadlineMs) {
          checks += 1;
          passedMs += nextCheckMs(work, passedMs, clocks);
        }
        assert.ok(checks >= 3, `${work.kind}: ${checks}`);
      }
    });
  }

  it('comes at gaps that double up to hours once the outcome is awaited', () => {
    const work = collection('reconciling');
    const gaps = [MINUTE, 20 * MINUTE, 40 * MINUTE, 90 * MINUTE, 1000 * HOUR].map((ms) =>
      nextCheckMs(work, ms, REAL_CLOCKS),
    );
    assert.deepEqual(gaps, [10 * MINUTE, 20 * MINUTE, 40 * MINUTE, 90 * MINUTE, 6 * HOUR]);
  });

  it('comes first shortly after the awaited time of the workflow', () => {
    const dues = [payout('queued'), delivery, collection('reconciling')].map((work) =>
      firstCheckMs(work, AT, REAL_CLOCKS),
    );
    assert.deepEqual(dues, [61 * MINUTE, 70 * MINUTE, 10 * MINUTE]);
  });

  it('comes soon again for work that should not take long', () => {
    for (const work of [payout('queued'), delivery])
      assert.equal(nextCheckMs(work, 1000 * HOUR, REAL_CLOCKS), 10 * MINUTE);
  });
});

describe('an open run', () => {
  const run = (fields: Partial<OpenRun>): OpenRun => ({ runId: 'run', taskAttempt: 0, quietSince: null, ...fields });
  const reasonFor = (fields: Partial<OpenRun>, work = collection('reconciling')) =>
    stuckReason(run(fields), work, AT, REAL_CLOCKS);
  const ago = (ms: number) => new Date(AT.getTime() - ms);

  it('may progress while its task waits for a worker, or was tried by one that died', () => {
    for (const taskAttempt of [0, 1, 2]) assert.equal(reasonFor({ taskAttempt }), null);
  });

  it('cannot progress when its task fails again and again', () => {
    assert.equal(reasonFor({ taskAttempt: 3 }), 'workflow_task_fails');
  });

  it('may wait for the outcome of its payment for days without any event', () => {
    assert.equal(reasonFor({ quietSince: ago(3 * 1440 * MINUTE) }), null);
  });

  it('cannot progress when it has something to do and nothing happens', () => {
    for (const work of [collection('initiated'), payout('released'), payout('queued', ago(1))]) {
      assert.equal(reasonFor({ quietSince: ago(9 * MINUTE) }, work), null);
      assert.equal(reasonFor({ quietSince: ago(11 * MINUTE) }, work), 'no_progress');
    }
    assert.equal(reasonFor({ quietSince: ago(11 * MINUTE) }, payout('queued', ago(-1))), null, 'people have time');
    assert.equal(reasonFor({ quietSince: ago(9 * MINUTE) }, delivery), null);
    assert.equal(reasonFor({ quietSince: ago(11 * MINUTE) }, delivery), 'no_progress');
  });
});
