// What the activities do with a payout whose release no process of ours attested, and which approvals count for a release.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { testActivities, workerDeps } from '../../support/payment-activities.ts';
import { AMINA } from '../../support/staff.ts';
import { findOpenDiscrepancies } from '../../../src/db/payments/discrepancy.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import { releasePayment } from '../../../src/operations/payments/release-payment.ts';
import type { StatusOutcome } from '../../../src/operators/port.ts';
import { settleDiscrepancy } from '../../../src/operations/payments/settle-discrepancy.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { createReleaseAttestor } from '../../../src/security/release-attestation.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { contextOf, KEY_RING, makeCollection, tamper } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { makePayout, makePerson, makeShop, queue, release, setPolicy } from './payout-rows.ts';
import { makeReversal } from './refund-rows.ts';
import { valuesOf } from '../../support/values-of.ts';

const FORGED = 'f'.repeat(43);

describe('a payout whose release is not attested', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));
  const fatal: unknown[] = [];
  let query: () => Promise<StatusOutcome> = () => Promise.resolve({ kind: 'pending' });

  /** The activities of a worker in this environment, with an operator that must not be called. */
  function activities(environment: 'test' | 'live' = 'test') {
    const operators = {
      'mtn-momo': { sendPayout: () => assert.fail('it was sent'), getPayoutStatus: query, getRefundStatus: query },
    };
    const releases = createReleaseAttestor({ environment, keyRing: KEY_RING });
    const log = { fatal: (fields: unknown) => fatal.push(fields) };
    return testActivities(workerDeps(db, { operators, releases, log }));
  }

  const refOf = ({ id, merchantId }: Payout) => ({ kind: 'payout', id, merchantId }) as const;
  const neverSent = (payout: Payout) =>
    activities().recordTransition({ ref: refOf(payout), transition: { kind: 'never_sent' } });
  const open = async ({ id }: { readonly id: string }) =>
    (await findOpenDiscrepancies(db, 100)).filter(({ subject }) => subject === id);

  /** Released, and past its send deadline. */
  async function overdue(): Promise<Payout> {
    const { id } = await queue(db, shop, 1000n);
    await release(db, shop.approver, id, { clocks: { payoutSendDeadlineMs: 1 } });
    return getPayout(db, shop.merchantId, id);
  }

  it('keeps its money held past its deadline until a person settled it, and then fails as never sent', async () => {
    const payout = await overdue();
    await tamper(db, 'UPDATE payments SET release_attestation = $2 WHERE id = $1', [payout.id, FORGED]);
    assert.equal((await neverSent(payout)).state, 'released');
    assert.equal((await neverSent(payout)).state, 'released');
    const found = await open(payout);
    assert.deepEqual(valuesOf(found, 'kind'), ['release_unattested'], 'once, however often it is found');
    await settleDiscrepancy(db, { id: found[0]!.id, how: 'a test wrote it', by: AMINA, at: new Date() });
    assert.equal((await neverSent(payout)).state, 'failed');
    assert.deepEqual(await open(payout), []);
  });

  for (const kind of ['payout', 'reversal'] as const) {
    it(`keeps the money of a ${kind} by whatever the operator says, until a person settled it`, async () => {
      const { id, merchantId } =
        kind === 'payout'
          ? await makePayout(db, shop, 'released')
          : await makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
      // Who wrote the release also wrote that it was sent.
      await tamper(db, `UPDATE payments SET release_attestation = $2, send_begun_at = now() WHERE id = $1`, [
        id,
        FORGED,
      ]);
      const ref = { kind, id, merchantId } as PaymentRef;
      const failureCode = 'operator_rejected' as const;
      query = () => Promise.resolve({ kind: 'failed', code: failureCode, operatorCode: 'NOT_ALLOWED' });
      const decline = async () => (await activities().queryStatusWithOperator(ref)).snapshot;
      assert.equal((await decline()).state, 'released');
      const [found, ...others] = await open({ id });
      assert.deepEqual([found?.kind, others], ['release_unattested', []]);
      await settleDiscrepancy(db, { id: found!.id, how: 'a test wrote it', by: AMINA, at: new Date() });
      assert.equal((await decline()).state, 'failed');
    });
  }

  it('fails as never sent at once when the release is attested', async () => {
    const payout = await overdue();
    assert.equal((await neverSent(payout)).state, 'failed');
    assert.deepEqual(await open(payout), []);
  });

  it('is not sent in another environment than the one in which it was released', async () => {
    const payout = await makePayout(db, shop, 'released');
    fatal.length = 0;
    await assert.rejects(activities('live').sendWithOperator(refOf(payout)), { type: 'ApprovalMissing' });
    assert.deepEqual(fatal, [{ id: payout.id, merchantId: shop.merchantId, isNew: true }]);
    const [found] = await open(payout);
    await settleDiscrepancy(db, { id: found!.id, how: 'settled by the test', by: AMINA, at: new Date() });
  });

  it('is not sent when it was its maker who approved it, although the release is attested', async () => {
    const { id } = await makePayout(db, shop, 'released');
    await tamper(db, 'UPDATE approvals SET user_id = $2 WHERE payment_id = $1', [id, shop.maker.userId]);
    const payout = await getPayout(db, shop.merchantId, id);
    const releases = createReleaseAttestor({ environment: 'test', keyRing: KEY_RING });
    const attestation = releases.attestRelease(payout);
    await tamper(db, 'UPDATE payments SET release_attestation = $2 WHERE id = $1', [id, attestation]);
    await assert.rejects(activities().sendWithOperator(refOf(payout)), { type: 'ApprovalMissing' });
    const [found] = await open(payout);
    await settleDiscrepancy(db, { id: found!.id, how: 'settled by the test', by: AMINA, at: new Date() });
  });

  it('is not approved in another environment than the one in which it was requested', async () => {
    const payout = await queue(db, shop, 1000n);
    const releases = createReleaseAttestor({ environment: 'live', keyRing: KEY_RING });
    const by = { person: shop.approver, address: null, requestId: 'req_test' };
    const request = { kind: 'payout', id: payout.id, by, idempotencyKey: randomUUID(), at: new Date() } as const;
    await assert.rejects(releasePayment({ ...contextOf(db), releases }, request), { code: 'state_conflict' });
    assert.equal((await getPayout(db, shop.merchantId, payout.id)).state, 'queued');
  });

  it('is not released by one person beside an approval that somebody wrote into the database', async () => {
    const own = await makeShop(db, 10_000n);
    await setPolicy(db, own.merchantId, { twoApproversAboveMinor: 100n });
    const payout = await queue(db, own, 1000n);
    await db.pool.query(
      `INSERT INTO approvals (payment_id, user_id, merchant_id, approved_at, attestation)
       VALUES ($1, $2, $3, now(), $4)`,
      [payout.id, own.otherApprover.userId, own.merchantId, FORGED],
    );
    await release(db, own.approver, payout.id);
    assert.equal((await getPayout(db, own.merchantId, payout.id)).state, 'queued');
  });

  it('counts an approval from before the attestation key was replaced, and none of another key', async () => {
    const own = await makeShop(db, 10_000n);
    await setPolicy(db, own.merchantId, { twoApproversAboveMinor: 100n });
    const other = { name: 'new', key: createSecretKey(randomBytes(32)) };
    type Ring = Parameters<typeof createReleaseAttestor>[0]['keyRing'];
    const releaseWith = async (payout: Payout, keyRing: Ring, person = own.otherApprover) => {
      const releases = createReleaseAttestor({ environment: 'test', keyRing });
      const by = { person, address: null, requestId: 'req_test' };
      const { kind, id } = payout;
      await releasePayment(
        { ...contextOf(db), releases },
        { kind, id, by, idempotencyKey: randomUUID(), at: new Date() },
      );
      return (await getPayout(db, own.merchantId, payout.id)).state;
    };
    const [kept, lost] = [await queue(db, own, 1000n), await queue(db, own, 1000n)];
    await release(db, own.approver, kept.id);
    assert.equal(await releaseWith(kept, [other, ...KEY_RING]), 'released');
    assert.equal(await releaseWith(lost, [other, ...KEY_RING], own.approver), 'queued');
    assert.equal(await releaseWith(lost, KEY_RING), 'queued');
    const third = await makePerson(db, own.merchantId, ['approver']);
    await assert.rejects(releaseWith(lost, [other], third), { code: 'state_conflict' }, 'so is the request');
  });
});
