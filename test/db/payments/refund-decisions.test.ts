// What people decide about refunds that a maker requested: the same rules as for payouts, and one daily limit for both.
import assert from 'node:assert/strict';
import type { ReversalId } from '../../../src/domain/ids.ts';
import { getReversal } from '../../../src/db/payments/reversal.ts';
import { testActivities, workerDeps } from '../../support/payment-activities.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';
import { countRows, makeCollection, record, tamper } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { codeOr, makeShop, queue, release, requestPayout, setPolicy, SOON_OVER } from './payout-rows.ts';
import {
  decideOnRefund,
  makeReversal,
  queueReversal,
  recordReversal,
  releaseRefund,
  requestReversal,
} from './refund-rows.ts';
import { rewrite } from '../../support/attestation.ts';
import { columnsOf } from '../../support/values-of.ts';

const REJECT = { kind: 'reject', reason: 'wrong one' } as const;
const CANCEL = { kind: 'cancel' } as const;

describe('a decision on a refund', () => {
  const db = useDatabase();
  const shop = useFixturePerCase(() => makeShop(db, 100_000n));

  const paidCollection = () => makeCollection(db, shop.merchantId, 'succeeded');
  const queued = async () => queueReversal(db, shop, await paidCollection());
  const stateOf = async (id: ReversalId) => (await getReversal(db, shop.merchantId, id)).state;

  it('releases it once another person approves, with an attestation and the send deadline', async () => {
    const { id } = await queued();
    const at = new Date();
    const released = await releaseRefund(db, shop.approver, id, { at });
    assert.ok(released.kind === 'accepted');
    const [reversal] = released.payments;
    assert.deepEqual(reversal, await getReversal(db, shop.merchantId, id));
    assert.deepEqual([reversal.state, reversal.sendDeadlineAt?.getTime()], ['released', at.getTime() + 86_400_000]);
    assert.deepEqual(columnsOf(reversal.approvals, 'userId', 'approvedAt'), [[shop.approver.userId, at]]);
    assert.equal(await countRows(db, `audit_entries WHERE subject_id = $1 AND action = 'reversal.released'`, [id]), 1);
  });

  it('is refused to its maker, to others than approvers, to other merchants, and for what is not queued', async () => {
    const { id } = await queued();
    const owner = { ...shop.maker, roles: ['owner'] as const };
    await rewrite(db, `UPDATE members SET roles = '{owner}' WHERE user_id = $1`, [shop.maker.userId]);
    assert.equal(await codeOr(releaseRefund(db, owner, id)), 'approval_self');
    const other = await makeShop(db, 0n);
    assert.equal(await codeOr(releaseRefund(db, other.approver, id)), 'reversal_not_found');
    assert.equal(await codeOr(releaseRefund(db, other.maker, id)), 'permission_denied');
    assert.equal(await codeOr(decideOnRefund(db, shop.otherApprover, id, CANCEL)), 'permission_denied');
    assert.equal((await decideOnRefund(db, shop.approver, id, REJECT)).state, 'rejected');
    assert.equal(await codeOr(releaseRefund(db, shop.approver, id)), 'state_conflict');
    assert.equal(await codeOr(decideOnRefund(db, owner, id, CANCEL)), 'state_conflict');
    assert.equal((await decideOnRefund(db, shop.approver, id, REJECT)).state, 'rejected', 'a repeat changes nothing');
  });

  it('takes two approvers above the amount of the policy, and counts an approver once', async () => {
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 4999n });
    const { id } = await queued();
    await releaseRefund(db, shop.approver, id);
    await releaseRefund(db, shop.approver, id);
    assert.equal(await stateOf(id), 'queued');
    await releaseRefund(db, shop.otherApprover, id);
    assert.equal(await stateOf(id), 'released');
  });

  it('counts towards one daily limit with payouts', async () => {
    await setPolicy(db, shop.merchantId, { approverDailyLimitMinor: 7000n });
    const payout = await queue(db, shop, 2001n);
    const [first, second] = [await queued(), await queued()];
    await releaseRefund(db, shop.approver, first.id);
    assert.equal(await codeOr(release(db, shop.approver, payout.id)), 'permission_denied');
    assert.equal(await codeOr(releaseRefund(db, shop.approver, second.id)), 'permission_denied');
    await release(db, shop.otherApprover, payout.id);
    assert.equal(await codeOr(releaseRefund(db, shop.otherApprover, second.id)), 'permission_denied');
  });

  it('releases once, however many people approve, reject and cancel at the same moment', async () => {
    const { id } = await queued();
    const answers = await Promise.all([
      codeOr(releaseRefund(db, shop.approver, id).then(() => 'ok')),
      codeOr(releaseRefund(db, shop.otherApprover, id).then(() => 'ok')),
      codeOr(decideOnRefund(db, shop.approver, id, REJECT).then(() => 'ok')),
      codeOr(decideOnRefund(db, shop.maker, id, CANCEL).then(() => 'ok')),
    ]);
    // What was released may still be cancelled, because nobody has begun to send it.
    const [, other, ...late] = answers.sort();
    assert.deepEqual([answers[0], ...late], ['ok', 'state_conflict', 'state_conflict']);
    const { state } = await getReversal(db, shop.merchantId, id);
    if (other === 'ok') assert.equal(state, 'cancelled');
    else assert.ok(['released', 'rejected', 'cancelled'].includes(state), state);
  });

  it('comes too late once it expired, which is recorded only then, and another refund may follow', async () => {
    const collection = await paidCollection();
    const refund = await queueReversal(db, shop, collection, SOON_OVER);
    const expired = { kind: 'approval_expired' } as const;
    const early = new Date(refund.expiresAt.getTime() - 1);
    assert.equal((await recordReversal(db, refund, expired, early)).state, 'queued');
    assert.equal(await codeOr(releaseRefund(db, shop.approver, refund.id, { at: refund.expiresAt })), 'state_conflict');
    assert.equal((await recordReversal(db, refund, expired, refund.expiresAt)).state, 'expired');
    assert.equal((await requestReversal(db, shop.maker, collection.id)).kind, 'accepted');
  });

  it('is refused once the operator returned the collection, whose amount is no longer reserved then', async () => {
    const own = await makeShop(db, 0n);
    const collection = await makeCollection(db, own.merchantId, 'succeeded');
    await makeCollection(db, own.merchantId, 'succeeded', { amountMinor: 100n });
    const { id } = await queueReversal(db, own, collection);
    assert.equal((await requestPayout(db, own, 101n)).kind, 'refused', 'reserved from the request on');
    await record(db, collection, { kind: 'returned' });
    assert.equal(await codeOr(releaseRefund(db, own.approver, id)), 'state_conflict');
    assert.equal((await requestPayout(db, own, 100n)).kind, 'accepted');
    assert.equal((await decideOnRefund(db, own.maker, id, CANCEL)).state, 'cancelled');
  });

  it('gives its amount back to the merchant when it is cancelled', async () => {
    const own = await makeShop(db, 0n);
    const { id } = await queueReversal(db, own, await makeCollection(db, own.merchantId, 'succeeded'));
    assert.equal((await requestPayout(db, own, 100n)).kind, 'refused');
    await decideOnRefund(db, own.maker, id, CANCEL);
    assert.equal((await requestPayout(db, own, 5000n)).kind, 'accepted');
  });

  for (const [what, forge] of [
    ['another approver', `UPDATE approvals SET user_id = $2 WHERE payment_id = $1`],
    ['another maker', `UPDATE payments SET created_by = $2 WHERE id = $1`],
    ['another amount', `UPDATE payments SET amount_minor = 5001, request_id = $2 WHERE id = $1`],
    ['another phone', `UPDATE payments SET phone = '256772000999', request_id = $2 WHERE id = $1`],
  ] as const) {
    it(`is not sent with ${what} than the service recorded, and shown to a person`, async () => {
      const { id, merchantId } = await makeReversal(db, shop, await paidCollection());
      await tamper(db, forge, [id, shop.otherApprover.userId]);
      const operators = { 'mtn-momo': { refundCollection: () => assert.fail('it was sent') } };
      const activities = testActivities(workerDeps(db, { operators, log: { fatal: () => undefined } }));
      const ref = { kind: 'reversal', id, merchantId } as const;
      await assert.rejects(activities.sendWithOperator(ref), { type: 'ApprovalMissing' });
      const found = `discrepancies WHERE payment_id = $1 AND kind = 'release_unattested'`;
      assert.equal(await countRows(db, found, [id]), 1);
    });
  }
});
