// The recovery of an account withdraws everything pending in the person's name: a thief may have created it.
import assert from 'node:assert/strict';
import type { Person } from '../../../src/domain/accounts/member.ts';
import type { MerchantId, PayoutId } from '../../../src/domain/ids.ts';
import { changeMember } from '../../../src/operations/accounts/change-member.ts';
import { changePolicy } from '../../../src/operations/accounts/change-policy.ts';
import { createInvitation } from '../../../src/operations/accounts/create-invitation.ts';
import { decideProposal } from '../../../src/operations/accounts/decide-proposal.ts';
import { recoverAccount } from '../../../src/operations/accounts/recover-account.ts';
import { listAllOpenInvitations } from '../../../src/db/accounts/proposal.ts';
import { findUser } from '../../../src/db/accounts/user.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { hashToken } from '../../../src/security/token.ts';
import { passwordHash } from '../../support/people.ts';
import { recoveryToken } from '../../support/staff.ts';
import { actedBy, makePerson, makeShop, queue, release, setPolicy, type Shop } from '../payments/payout-rows.ts';
import { untilSoManyWait, whileLocked, countRows } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';
import { columnsOf } from '../../support/values-of.ts';

const SERVICE_LIMITS = { payoutExpiryMs: 7 * 86_400_000, leastWaitingTimeMs: 0 };
const BECAUSE = { reason: 'the account was recovered' };

describe('the recovery of an account', () => {
  const db = useDatabasePerCase();
  let shop: Shop;
  beforeEach(async () => {
    shop = await makeShop(db, 10_000n);
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 100n, approverDailyLimitMinor: 1000n });
  });

  const prepare = async ({ userId }: Person) => {
    const user = await findUser(db, userId);
    const tokenSha256 = hashToken(await recoveryToken(db, user!.email));
    assert.ok(tokenSha256 !== null);
    const input = { tokenSha256, newHash: await passwordHash(), counted: [], address: null, requestId: 'req_recovery' };
    return () => recoverAccount(db, { ...input, at: new Date() });
  };
  const inNewSession = async (person: Person): Promise<Person> => {
    return { ...person, recoveredAt: (await findUser(db, person.userId))!.recoveredAt };
  };
  /** The person in a session after the recovery. */
  const recover = async (person: Person): Promise<Person> => {
    await (
      await prepare(person)
    )();
    return { ...person, recoveredAt: (await findUser(db, person.userId))!.recoveredAt };
  };
  const approversOf = async (id: PayoutId) => {
    const { state, approvals } = await getPayout(db, shop.merchantId, id);
    return [state, approvals.map(({ userId }) => userId)];
  };
  const withdrawnIn = async (merchantId: MerchantId) => {
    const { rows } = await db.pool.query<{ action: string; subject_id: string; after: object; user_id: string }>(
      `SELECT action, subject_id, after, user_id FROM audit_entries
       WHERE merchant_id = $1 AND action LIKE '%withdrawn' ORDER BY action`,
      [merchantId],
    );
    return rows;
  };
  const entry = (action: string, id: string, { userId }: Person) => {
    return { action, subject_id: id, after: BECAUSE, user_id: userId };
  };
  const loosen = (by: Person) => {
    const changes = { two_approvers_above: null };
    return changePolicy(db, { changes, serviceLimits: SERVICE_LIMITS, by: actedBy(by), at: new Date() });
  };

  it('withdraws approvals of unreleased payments, which the person may give again', async () => {
    const { approver, otherApprover, merchantId } = shop;
    const { id } = await queue(db, shop, 1000n);
    await release(db, approver, id);
    const before = await approversOf(id);
    assert.deepEqual(before, ['queued', [approver.userId]]);
    const recovered = await recover(approver);
    assert.deepEqual(await approversOf(id), ['queued', []]);
    assert.deepEqual(await withdrawnIn(merchantId), [entry('payout.approval_withdrawn', id, approver)]);
    await release(db, otherApprover, id);
    assert.deepEqual(await approversOf(id), ['queued', [otherApprover.userId]], 'one approval is not two');
    await release(db, recovered, id);
    assert.deepEqual(await approversOf(id), ['released', [otherApprover.userId, approver.userId]]);
    assert.equal(await countRows(db, 'approvals WHERE payment_id = $1', [id]), 3, 'what was withdrawn stays on record');
  });

  it('leaves released payments and their approvals unchanged', async () => {
    const { approver, otherApprover } = shop;
    const { id } = await queue(db, shop, 1000n);
    await release(db, approver, id);
    await release(db, otherApprover, id);
    const before = await approversOf(id);
    await recover(approver);
    assert.deepEqual(await approversOf(id), before);
    assert.deepEqual(before, ['released', [approver.userId, otherApprover.userId]]);
  });

  it('withdraws proposals and invitations of the person, and their word for those of others, and no others', async () => {
    const { merchantId, approver } = shop;
    const owner = await makePerson(db, merchantId, ['owner']);
    const admin = await makePerson(db, merchantId, ['admin', 'maker']);
    const at = new Date();
    const [policyChange, othersPolicyChange] = [await loosen(owner), await loosen(admin)];
    assert.ok(policyChange.kind === 'waiting' && othersPolicyChange.kind === 'waiting');
    const memberChange = await changeMember(db, { userId: approver.userId, roles: ['admin'], by: actedBy(owner), at });
    assert.ok(memberChange.kind === 'waiting');
    const invite = async (by: Person, email: string) =>
      (await createInvitation(db, { email, roles: ['maker'], by: actedBy(by), at })).invitation.id;
    const [own, others] = [await invite(owner, 'own@shop.example'), await invite(admin, 'other@shop.example')];
    await decideProposal(db, { kind: 'invitation', id: others, decision: 'approved', by: actedBy(owner), at });
    await recover(owner);
    assert.deepEqual(await withdrawnIn(merchantId), [
      entry('invitation.approval_withdrawn', others, owner),
      entry('invitation.withdrawn', own, owner),
      entry('member_change.withdrawn', memberChange.change.id, owner),
      entry('policy_change.withdrawn', policyChange.change.id, owner),
    ]);
    const open = await listAllOpenInvitations(db, merchantId, new Date());
    assert.deepEqual(columnsOf(open, 'id', 'state', 'decidedAt'), [[others, 'pending', null]]);
    const decide = (id: string) =>
      decideProposal(db, { kind: 'policy_change', id, decision: 'approved', by: actedBy(admin), at: new Date() });
    await assert.rejects(decide(policyChange.change.id), { code: 'state_conflict' });
    const another = await makePerson(db, merchantId, ['owner']);
    const { id } = othersPolicyChange.change;
    const stands = { kind: 'policy_change', id, decision: 'approved', by: actedBy(another), at } as const;
    assert.equal((await decideProposal(db, stands)).proposal.state, 'approved');
  });

  it('refuses acts of earlier sessions while it is in progress', async () => {
    const { approver, merchantId } = shop;
    const owner = await makePerson(db, merchantId, ['owner']);
    for (const person of [approver, owner]) {
      const [approved, other] = [await queue(db, shop, 200n), await queue(db, shop, 200n)];
      await release(db, person, approved.id);
      const recovery = await prepare(person);
      const lock = { sql: 'SELECT 1 FROM payments WHERE id = $1 FOR UPDATE', values: [approved.id] };
      let late: Promise<unknown>[] = [];
      await whileLocked(db, lock, recovery, () => {
        // All of them wait for what the recovery holds, or come after it.
        late = [release(db, person, other.id), ...(person === owner ? [loosen(person)] : [])];
        for (const each of late) each.catch(() => undefined);
        return Promise.resolve();
      });
      for (const each of late) await assert.rejects(each, { code: 'permission_denied' });
      assert.deepEqual(await approversOf(approved.id), ['queued', []]);
      assert.deepEqual(await approversOf(other.id), ['queued', []]);
    }
  });

  it('waits for a release that is in progress, by the person or with their approval, which stays', async () => {
    const { approver, otherApprover } = shop;
    for (const isFirst of [false, true]) {
      const own = await inNewSession(approver);
      const [first, last] = isFirst ? [own, otherApprover] : [otherApprover, own];
      const { id } = await queue(db, shop, 400n);
      await release(db, first, id);
      const recovery = await prepare(approver);
      const lock = { sql: 'SELECT 1 FROM payments WHERE id = $1 FOR UPDATE', values: [id] };
      const recovering: Promise<void>[] = [];
      const begin = () => release(db, last, id);
      await whileLocked(db, lock, begin, () => {
        recovering.push(recovery());
        return untilSoManyWait(db, 2);
      });
      await Promise.all(recovering);
      assert.deepEqual(await approversOf(id), ['released', [first.userId, last.userId]]);
    }
  });
});
