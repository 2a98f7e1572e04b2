// The campaign checker judges ended processes, and approvals without an effect.
import assert from 'node:assert/strict';
import type { ProcessEnd, SentSignal } from '../../chaos/checker/evidence.ts';
import { progressRules } from '../../chaos/checker/progress-rules.ts';
import { EMPTY_CASE } from './empty-case.ts';
import { AT, PAYOUT_ROW } from './payout-row.ts';

function namesEnd(end: Partial<ProcessEnd>, signals: readonly Partial<SentSignal>[] = []): boolean {
  const whole: ProcessEnd = {
    name: 'server 0',
    pid: 7,
    atMs: 0,
    reason: 'was ended by SIGKILL',
    wasReady: true,
    ...end,
  };
  const sent = signals.map((signal) => ({ type: 'signal', pid: 7, signal: 'SIGKILL', atMs: 0, ...signal }) as const);
  const found = progressRules({ ...EMPTY_CASE, processEnds: [whole], interference: { faults: [], signals: sent } });
  return found.some(({ rule }) => rule === 'process_ended');
}

describe('a process of a campaign that ended', () => {
  it('is not named when the campaign killed it', () => {
    assert.equal(namesEnd({}, [{}]), false);
  });

  it('is named when another process was killed, or it ended by another signal', () => {
    assert.equal(namesEnd({}, [{ pid: 8 }]), true);
    assert.equal(namesEnd({ reason: 'was ended by SIGSEGV' }, [{}]), true);
  });

  it('is named when it ended with a code, unless its start failed', () => {
    assert.equal(namesEnd({ reason: 'ended with code 1' }), true);
    assert.equal(namesEnd({ reason: 'it ended with code 1 before it was ready', wasReady: false }), false);
  });

  it('is not named for a signal that only its log mentions', () => {
    const reason = 'it was not ready within 60 s. The end of server.log:\nwas ended by SIGKILL';
    assert.equal(namesEnd({ reason, wasReady: false }), false);
  });
});

function namesPayout(
  people: readonly string[],
  state = 'queued',
  twoApproversAbove: number | null = null,
  sendDeadlineAt: Date | null = null,
): boolean {
  const payout = { ...PAYOUT_ROW, state, approvalsRequired: 1, sendDeadlineAt };
  const approvals = people.map((userId) => ({ paymentId: payout.id, userId, approvedAt: AT }));
  const policies = [{ merchantId: payout.merchantId, twoApproversAbove }];
  const found = progressRules({
    ...EMPTY_CASE,
    records: { ...EMPTY_CASE.records, payouts: [payout], approvals, policies },
  });
  return found.some(({ rule }) => rule === 'decision_ignored');
}

describe('a payout of a campaign that was not released', () => {
  it('is not named without an approval, or with its maker’s alone', () => {
    assert.equal(namesPayout([]), false);
    assert.equal(namesPayout(['usr_maker']), false);
  });

  it('is named with the approval that it needs, however it ended', () => {
    for (const state of ['queued', 'expired', 'rejected', 'cancelled']) {
      assert.equal(namesPayout(['usr_a'], state), true, state);
    }
    assert.equal(namesPayout(['usr_a'], 'released', null, AT), false);
    assert.equal(namesPayout(['usr_a'], 'cancelled', null, AT), false, 'cancelled after its release');
  });

  it('is not named while an approval is missing that the merchant’s policy asks for', () => {
    assert.equal(namesPayout(['usr_a'], 'queued', PAYOUT_ROW.amount - 1), false);
    assert.equal(namesPayout(['usr_a', 'usr_b'], 'queued', PAYOUT_ROW.amount - 1), true);
    assert.equal(namesPayout(['usr_a'], 'queued', PAYOUT_ROW.amount), true);
  });
});
