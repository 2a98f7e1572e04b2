// Decisions of people on payouts: who may, what each leaves behind, and what is left as it was.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/db/database.ts';
import { newId, type PayoutId } from '../../../src/domain/ids.ts';
import type { Person } from '../../../src/domain/accounts/member.ts';
import { isReleasedByOthers } from '../../../src/domain/payments/release.ts';
import { checkLedger } from '../../../src/queries/payments/check-ledger.ts';
import { getBalance } from '../../../src/queries/payments/get-balance.ts';
import { getPayout } from '../../../src/queries/payments/get-payout.ts';
import { createTestDatabase, type TestDatabase } from '../../support/engines.ts';
import {
  codeOr,
  decide,
  makePerson,
  makeShop,
  queue,
  recordPayout,
  release,
  setPolicy,
  SOON_OVER,
  type Shop,
} from './payout-rows.ts';
import { oneRow } from '../rows.ts';

const DAY = 86_400_000;
const REJECT = { kind: 'reject', reason: 'wrong person' } as const;
const CANCEL = { kind: 'cancel' } as const;

describe('a decision on a payout', () => {
  let database: TestDatabase;
  let db: Database;
  let shop: Shop;

  before(async () => {
    database = await createTestDatabase();
    db = database.db;
  });
  beforeEach(async () => {
    shop = await makeShop(db, 100_000n);
  });
  after(() => database.drop());

  const stateOf = async (id: PayoutId) => (await getPayout(db, shop.merchantId, id)).state;
  const balance = async () => {
    const { availableMinor, heldMinor } = await getBalance(db, shop.merchantId);
    return [availableMinor, heldMinor];
  };
  const auditOf = async (id: PayoutId) =>
    (
      await db.pool.query<{ action: string; user_id: string; outcome: string }>(
        'SELECT action, user_id, outcome FROM audit_entries WHERE subject_id = $1 ORDER BY id',
        [id],
      )
    ).rows;
  const approvalsOf = async (id: PayoutId) =>
    (await getPayout(db, shop.merchantId, id)).approvals.map(({ userId }) => userId);

  it('to release sends it on with who agreed, and leaves the money held', async () => {
    const { id } = await queue(db, shop, 1000n);
    const at = new Date();
    const released = await release(db, shop.approver, id, { at });
    assert.ok(released.kind === 'approved');
    const { payout } = released;
    assert.deepEqual(payout, await getPayout(db, shop.merchantId, id));
    assert.deepEqual([payout.state, payout.version, payout.previousState], ['released', 1, 'queued']);
    assert.deepEqual(payout.approvals, [{ userId: shop.approver.userId, approvedAt: at }]);
    assert.equal(payout.sendDeadlineAt?.getTime(), at.getTime() + 300_000);
    assert.ok(isReleasedByOthers(payout));
    assert.deepEqual(await balance(), [99_000n, 1000n]);
    const done = { user_id: shop.approver.userId, outcome: 'done' };
    assert.deepEqual(await auditOf(id), [{ action: 'payout.released', ...done }]);
  });

  it('to reject gives the money back and says why', async () => {
    const { id } = await queue(db, shop, 1000n);
    const rejected = await decide(db, shop.approver, id, REJECT);
    assert.deepEqual(rejected, await getPayout(db, shop.merchantId, id));
    assert.deepEqual(
      [rejected.state, rejected.rejectionReason, rejected.decidedBy],
      ['rejected', 'wrong person', shop.approver.userId],
    );
    assert.deepEqual(await balance(), [100_000n, 0n]);
    assert.deepEqual(
      (await auditOf(id)).map(({ action }) => action),
      ['payout.rejected'],
    );
  });

  it('to cancel is the maker’s, and gives the money back', async () => {
    const { id } = await queue(db, shop, 1000n);
    assert.equal(await codeOr(decide(db, shop.approver, id, CANCEL)), 'permission_denied');
    const cancelled = await decide(db, shop.maker, id, CANCEL);
    assert.deepEqual([cancelled.state, cancelled.decidedBy], ['cancelled', shop.maker.userId]);
    assert.deepEqual(await balance(), [100_000n, 0n]);
    assert.deepEqual(
      (await auditOf(id)).map(({ action }) => action),
      ['payout.cancelled'],
    );
  });

  it('made again by the same person changes nothing and answers the same', async () => {
    const rejected = await queue(db, shop, 1000n);
    const first = await decide(db, shop.approver, rejected.id, REJECT);
    assert.deepEqual(await decide(db, shop.approver, rejected.id, REJECT), first);
    const cancelled = await queue(db, shop, 1000n);
    const second = await decide(db, shop.maker, cancelled.id, CANCEL);
    assert.deepEqual(await decide(db, shop.maker, cancelled.id, CANCEL), second);
    assert.equal((await auditOf(rejected.id)).length + (await auditOf(cancelled.id)).length, 2);
    assert.deepEqual(await balance(), [100_000n, 0n]);
  });

  it('that was made already is not made over, whoever asks', async () => {
    const { id } = await queue(db, shop, 1000n);
    await decide(db, shop.approver, id, REJECT);
    assert.equal(await codeOr(decide(db, shop.approver, id, { kind: 'reject', reason: 'other' })), 'state_conflict');
    assert.equal(await codeOr(decide(db, shop.otherApprover, id, REJECT)), 'state_conflict');
    assert.equal(await codeOr(decide(db, shop.maker, id, CANCEL)), 'state_conflict');
    assert.equal(await codeOr(release(db, shop.approver, id)), 'state_conflict');
    assert.equal(await stateOf(id), 'rejected');
  });

  it('to release is never the maker’s, whatever roles they hold, and leaves nothing behind', async () => {
    const owner = await makePerson(db, shop.merchantId, ['owner', 'approver']);
    const { id } = await queue(db, { ...shop, maker: owner }, 1000n);
    assert.equal(await codeOr(release(db, owner, id)), 'approval_self');
    assert.deepEqual([await stateOf(id), await approvalsOf(id), await auditOf(id)], ['queued', [], []]);
  });

  it('is an approver’s or an owner’s, by the books and not by what a session says', async () => {
    const { id } = await queue(db, shop, 1000n);
    for (const role of ['admin', 'developer', 'maker', 'viewer'] as const) {
      const person: Person = { ...(await makePerson(db, shop.merchantId, [role])), roles: ['owner'] };
      assert.equal(await codeOr(release(db, person, id)), 'permission_denied', role);
      assert.equal(await codeOr(decide(db, person, id, REJECT)), 'permission_denied', role);
    }
    await release(db, await makePerson(db, shop.merchantId, ['owner']), id);
    assert.equal(await stateOf(id), 'released');
  });

  it('on another merchant’s payout is answered as on one that does not exist', async () => {
    const other = await makeShop(db, 1000n);
    const { id } = await queue(db, other, 1000n);
    for (const subject of [id, newId('pay'), 'pay_1' as PayoutId]) {
      assert.equal(await codeOr(release(db, shop.approver, subject)), 'payout_not_found');
      assert.equal(await codeOr(decide(db, shop.approver, subject, REJECT)), 'payout_not_found');
      assert.equal(await codeOr(decide(db, shop.maker, subject, CANCEL)), 'payout_not_found');
    }
    assert.equal((await getPayout(db, other.merchantId, id)).state, 'queued');
  });

  it('to release comes too late when the time is over, though nobody recorded that yet', async () => {
    const { id, expiresAt } = await queue(db, shop, 1000n, SOON_OVER);
    assert.equal(await codeOr(release(db, shop.approver, id, { at: expiresAt })), 'state_conflict');
    await release(db, shop.approver, id, { at: new Date(expiresAt.getTime() - 1) });
    assert.equal(await stateOf(id), 'released');
  });

  it('under an idempotency key is made once and answered the same', async () => {
    const [first, second] = [await queue(db, shop, 1000n), await queue(db, shop, 1000n)];
    const idempotencyKey = randomUUID();
    const { answer } = await release(db, shop.approver, first.id, { idempotencyKey });
    assert.equal(answer.status, 200);
    const again = await release(db, shop.approver, first.id, { idempotencyKey });
    assert.deepEqual(again, { kind: 'replayed', answer });
    for (const [person, payoutId] of [
      [shop.approver, second.id],
      [shop.otherApprover, first.id],
    ] as const) {
      assert.equal(await codeOr(release(db, person, payoutId, { idempotencyKey })), 'idempotency_key_reused');
    }
    assert.equal(await stateOf(second.id), 'queued');
  });

  it('needs two people above the amount of the policy', async () => {
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 1000n });
    const { id, approvalsRequired } = await queue(db, shop, 1001n);
    assert.equal(approvalsRequired, 2);
    await release(db, shop.approver, id);
    assert.equal(await stateOf(id), 'queued');
    await release(db, shop.otherApprover, id);
    assert.equal(await stateOf(id), 'released');
    assert.deepEqual(await approvalsOf(id), [shop.approver.userId, shop.otherApprover.userId]);
    assert.deepEqual(
      (await auditOf(id)).map(({ action }) => action),
      ['payout.approved', 'payout.released'],
    );
  });

  it('needs two where the policy became stricter since, and still two where it became looser', async () => {
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

  it('counts once for each person: a repeat adds nothing, also at the edge of the daily limit', async () => {
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 0n, approverDailyLimitMinor: 1000n });
    const { id } = await queue(db, shop, 1000n);
    for (let i = 0; i < 3; i++) {
      const { answer } = await release(db, shop.approver, id);
      assert.match(answer.body, /"state":"queued"/);
    }
    assert.deepEqual(await approvalsOf(id), [shop.approver.userId]);
    assert.equal((await auditOf(id)).length, 1);
  });

  it('counts for the daily limit of who made it for 24 hours, and for nobody else', async () => {
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

  it('by the operator’s word comes after people’s: nothing settles what is still queued', async () => {
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

  it('leaves in the database what the workflow is to be told', async () => {
    const { id } = await queue(db, shop, 1000n);
    await db.pool.query('UPDATE payouts SET workflow_started_at = now() WHERE id = $1', [id]);
    await release(db, shop.approver, id);
    const row = await oneRow<{ workflow_started_at: Date | null; check_due_at: Date | null }>(
      db,
      'SELECT workflow_started_at, check_due_at FROM payouts WHERE id = $1',
      [id],
    );
    assert.equal(row.workflow_started_at, null);
    assert.ok(row.check_due_at);
  });

  it('of every kind leaves the ledger sound', async () => {
    assert.deepEqual(await checkLedger(db), []);
  });
});
