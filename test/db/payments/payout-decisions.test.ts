// Decisions of people on payouts: who may make them, what each one records, and what it leaves as it was.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newId, type PayoutId } from '../../../src/domain/ids.ts';
import type { Person } from '../../../src/domain/accounts/member.ts';
import { isReleasedByOthers } from '../../../src/domain/payments/release.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import {
  balanceOf,
  codeOr,
  decide,
  makePerson,
  makeShop,
  queue,
  recordPayout,
  release,
  setPolicy,
  SOON_OVER,
} from './payout-rows.ts';
import { useDatabase } from '../use-database.ts';
import { valuesOf } from '../../support/values-of.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';
import { findWork, setWork } from '../work-rows.ts';

const DAY = 86_400_000;
const REJECT = { kind: 'reject', reason: 'wrong person' } as const;
const CANCEL = { kind: 'cancel' } as const;

describe('a decision on a payout', () => {
  const db = useDatabase();
  const shop = useFixturePerCase(() => makeShop(db, 100_000n));

  const stateOf = async (id: PayoutId) => (await getPayout(db, shop.merchantId, id)).state;
  const balance = () => balanceOf(db, shop.merchantId);
  const auditOf = async (id: PayoutId) =>
    (
      await db.pool.query<{ action: string; user_id: string; outcome: string }>(
        'SELECT action, user_id, outcome FROM audit_entries WHERE subject_id = $1 ORDER BY id',
        [id],
      )
    ).rows;
  const approvalsOf = async (id: PayoutId) =>
    (await getPayout(db, shop.merchantId, id)).approvals.map(({ userId }) => userId);

  it('releases the payout with its approval and leaves the money held', async () => {
    const { id } = await queue(db, shop, 1000n);
    const at = new Date();
    const released = await release(db, shop.approver, id, { at });
    assert.ok(released.kind === 'accepted');
    const [payout] = released.payments;
    assert.deepEqual(payout, await getPayout(db, shop.merchantId, id));
    assert.deepEqual([payout.state, payout.version, payout.previousState], ['released', 1, 'queued']);
    const { attestation = null } = payout.approvals[0] ?? {};
    assert.deepEqual(payout.approvals, [{ userId: shop.approver.userId, approvedAt: at, attestation }]);
    assert.ok(attestation !== null && payout.releaseAttestation !== null);
    assert.equal(payout.sendDeadlineAt?.getTime(), at.getTime() + 86_400_000);
    assert.ok(isReleasedByOthers(payout));
    assert.deepEqual(await balance(), [99_000n, 1000n]);
    const done = { user_id: shop.approver.userId, outcome: 'done' };
    assert.deepEqual(await auditOf(id), [{ action: 'payout.released', ...done }]);
  });

  it('rejects the payout with a reason and gives the money back', async () => {
    const { id } = await queue(db, shop, 1000n);
    const rejected = await decide(db, shop.approver, id, REJECT);
    assert.deepEqual(rejected, await getPayout(db, shop.merchantId, id));
    assert.deepEqual(
      [rejected.state, rejected.rejectionReason, rejected.decidedBy],
      ['rejected', 'wrong person', shop.approver.userId],
    );
    assert.deepEqual(await balance(), [100_000n, 0n]);
    assert.deepEqual(valuesOf(await auditOf(id), 'action'), ['payout.rejected']);
  });

  it('cancels the payout for its maker only and gives the money back', async () => {
    const { id } = await queue(db, shop, 1000n);
    assert.equal(await codeOr(decide(db, shop.approver, id, CANCEL)), 'permission_denied');
    const cancelled = await decide(db, shop.maker, id, CANCEL);
    assert.deepEqual([cancelled.state, cancelled.decidedBy], ['cancelled', shop.maker.userId]);
    assert.deepEqual(await balance(), [100_000n, 0n]);
    assert.deepEqual(valuesOf(await auditOf(id), 'action'), ['payout.cancelled']);
  });

  it('changes nothing and returns the same when the same person repeats it', async () => {
    const rejected = await queue(db, shop, 1000n);
    const first = await decide(db, shop.approver, rejected.id, REJECT);
    assert.deepEqual(await decide(db, shop.approver, rejected.id, REJECT), first);
    const cancelled = await queue(db, shop, 1000n);
    const second = await decide(db, shop.maker, cancelled.id, CANCEL);
    assert.deepEqual(await decide(db, shop.maker, cancelled.id, CANCEL), second);
    assert.equal((await auditOf(rejected.id)).length + (await auditOf(cancelled.id)).length, 2);
    assert.deepEqual(await balance(), [100_000n, 0n]);
  });

  it('returns state_conflict after another decision, no matter who makes it', async () => {
    const { id } = await queue(db, shop, 1000n);
    await decide(db, shop.approver, id, REJECT);
    assert.equal(await codeOr(decide(db, shop.approver, id, { kind: 'reject', reason: 'other' })), 'state_conflict');
    assert.equal(await codeOr(decide(db, shop.otherApprover, id, REJECT)), 'state_conflict');
    assert.equal(await codeOr(decide(db, shop.maker, id, CANCEL)), 'state_conflict');
    assert.equal(await codeOr(release(db, shop.approver, id)), 'state_conflict');
    assert.equal(await stateOf(id), 'rejected');
  });

  it('refuses a release by the maker, whatever roles they hold, and records nothing', async () => {
    const owner = await makePerson(db, shop.merchantId, ['owner', 'approver']);
    const { id } = await queue(db, { ...shop, maker: owner }, 1000n);
    assert.equal(await codeOr(release(db, owner, id)), 'approval_self');
    assert.deepEqual([await stateOf(id), await approvalsOf(id), await auditOf(id)], ['queued', [], []]);
  });

  it('requires the role of approver or owner in the database, whatever the session says', async () => {
    const { id } = await queue(db, shop, 1000n);
    for (const role of ['admin', 'developer', 'maker', 'viewer'] as const) {
      const person: Person = { ...(await makePerson(db, shop.merchantId, [role])), roles: ['owner'] };
      assert.equal(await codeOr(release(db, person, id)), 'permission_denied', role);
      assert.equal(await codeOr(decide(db, person, id, REJECT)), 'permission_denied', role);
    }
    await release(db, await makePerson(db, shop.merchantId, ['owner']), id);
    assert.equal(await stateOf(id), 'released');
  });

  it('returns payout_not_found for another merchant’s payout as for an unknown one', async () => {
    const other = await makeShop(db, 1000n);
    const { id } = await queue(db, other, 1000n);
    for (const subject of [id, newId('pay'), 'pay_1' as PayoutId]) {
      assert.equal(await codeOr(release(db, shop.approver, subject)), 'payout_not_found');
      assert.equal(await codeOr(decide(db, shop.approver, subject, REJECT)), 'payout_not_found');
      assert.equal(await codeOr(decide(db, shop.maker, subject, CANCEL)), 'payout_not_found');
    }
    assert.equal((await getPayout(db, other.merchantId, id)).state, 'queued');
  });

  it('refuses a release from the expiry on, even before the expiry is recorded', async () => {
    const { id, expiresAt } = await queue(db, shop, 1000n, SOON_OVER);
    assert.equal(await codeOr(release(db, shop.approver, id, { at: expiresAt })), 'state_conflict');
    await release(db, shop.approver, id, { at: new Date(expiresAt.getTime() - 1) });
    assert.equal(await stateOf(id), 'released');
  });

  it('acts once under an idempotency key and replays the stored response', async () => {
    const [first, second] = [await queue(db, shop, 1000n), await queue(db, shop, 1000n)];
    const idempotencyKey = randomUUID();
    const { response } = await release(db, shop.approver, first.id, { idempotencyKey });
    assert.equal(response.status, 200);
    const again = await release(db, shop.approver, first.id, { idempotencyKey });
    assert.deepEqual(again, { kind: 'replayed', response });
    for (const [person, payoutId] of [
      [shop.approver, second.id],
      [shop.otherApprover, first.id],
    ] as const) {
      assert.equal(await codeOr(release(db, person, payoutId, { idempotencyKey })), 'idempotency_key_reused');
    }
    assert.equal(await stateOf(second.id), 'queued');
  });

  it('needs two approvers above the amount of the policy', async () => {
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 1000n });
    const { id, approvalsRequired } = await queue(db, shop, 1001n);
    assert.equal(approvalsRequired, 2);
    await release(db, shop.approver, id);
    assert.equal(await stateOf(id), 'queued');
    await release(db, shop.otherApprover, id);
    assert.equal(await stateOf(id), 'released');
    assert.deepEqual(await approvalsOf(id), [shop.approver.userId, shop.otherApprover.userId]);
    assert.deepEqual(valuesOf(await auditOf(id), 'action'), ['payout.approved', 'payout.released']);
  });

  it('needs two approvers when the policy became stricter after creation, and still when it became looser', async () => {
    const before = await queue(db, shop, 2000n);
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 1000n });
    const after = await queue(db, shop, 2000n);
    await release(db, shop.approver, before.id);
    await setPolicy(db, shop.merchantId, {});
    await release(db, shop.approver, after.id);
    assert.deepEqual([await stateOf(before.id), await stateOf(after.id)], ['queued', 'queued']);
    assert.equal((await getPayout(db, shop.merchantId, before.id)).approvalsRequired, 2);
    for (const { id } of [before, after]) await release(db, shop.otherApprover, id);
    assert.deepEqual([await stateOf(before.id), await stateOf(after.id)], ['released', 'released']);
  });

  it('counts once for each person: a repeated approval adds nothing, even at the daily limit', async () => {
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 0n, approverDailyLimitMinor: 1000n });
    const { id } = await queue(db, shop, 1000n);
    for (let i = 0; i < 3; i++) {
      const { response } = await release(db, shop.approver, id);
      assert.match(response.body, /"state":"queued"/);
    }
    assert.deepEqual(await approvalsOf(id), [shop.approver.userId]);
    assert.equal((await auditOf(id)).length, 1);
  });

  it('counts towards the daily limit of its approver for 24 hours, and towards nobody else’s', async () => {
    await setPolicy(db, shop.merchantId, { approverDailyLimitMinor: 1000n });
    const at = new Date(Date.now() - DAY);
    const later = (ms: number) => new Date(at.getTime() + ms);
    await release(db, shop.approver, (await queue(db, shop, 1000n)).id, { at });
    const { id } = await queue(db, shop, 1000n);
    assert.equal(await codeOr(release(db, shop.approver, id, { at: later(DAY - 1) })), 'permission_denied');
    await release(db, shop.otherApprover, (await queue(db, shop, 1000n)).id, { at: later(1) });
    await release(db, shop.approver, id, { at: later(DAY) });
    assert.equal(await stateOf(id), 'released');
  });

  it('is made by people only: no operator status changes a queued payout', async () => {
    const payout = await queue(db, shop, 1000n);
    const transitions = [
      { kind: 'paid', operatorReceipt: '42' },
      { kind: 'declined', failureCode: 'unknown' },
      { kind: 'outcome_unknown' },
      { kind: 'returned' },
      { kind: 'approval_expired' },
    ] as const;
    for (const transition of transitions) assert.deepEqual(await recordPayout(db, payout, transition), payout);
    assert.deepEqual(await balance(), [99_000n, 1000n]);
  });

  it('marks the payout for the dispatcher, which signals its workflow', async () => {
    const { id } = await queue(db, shop, 1000n);
    await setWork(db, "is_started = true, due_at = now() + interval '1 day'", 'id = $1', [id]);
    await release(db, shop.approver, id);
    const work = await findWork(db, id);
    assert.equal(work?.isStarted, false);
    assert.ok(work.dueAt && work.dueAt <= new Date());
  });

  it('leaves the ledger sound in all cases above', async () => {
    assert.deepEqual(await checkLedger(db), []);
  });
});
