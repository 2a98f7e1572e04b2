// What whoever completes our activities by hand, or runs them with arguments of their own, can make of statuses that an operator
// really gave: hold back, repeat, mix, and add to.
import assert from 'node:assert/strict';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import {
  createPaymentActivities,
  type PaymentActivities,
  type PaymentActivityDeps,
} from '../../../activities/payment.ts';
import { createStatusAttestor, type SendResult } from '../../../activities/attestation.ts';
import { findOpenDiscrepancies } from '../../../src/db/payments/discrepancy.ts';
import { markSendBegun } from '../../../src/db/payments/payment-progress.ts';
import type { AttestedStatus, PaymentTransitionInput } from '../../../src/domain/payments/operator-status.ts';
import type { PaymentKind, PaymentRef } from '../../../src/domain/payments/payment.ts';
import type { SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { createPayments } from '../../../src/operations/payments/create-payments.ts';
import { checkLedger } from '../../../src/queries/payments/check-ledger.ts';
import { getPayout } from '../../../src/queries/payments/payout.ts';
import { createReleaseAttestor } from '../../../src/security/release-attestation.ts';
import { attest } from '../../../src/security/status-attestation.ts';
import { testLog } from '../../support/engines.ts';
import { eventually } from '../../support/test-environment.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { valuesOf } from '../../support/values-of.ts';
import { contextOf, KEY_RING, makeCollection, oneRow, record, tamper, TEST_CLOCKS, untilOneWaits } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { balanceOf, makeReversal, makeShop, queue, recordPayout, release } from './payout-rows.ts';

const ACCEPTED: SendOutcome = { kind: 'accepted' };
/** What an operator says while its account is empty: the next try may succeed. */
const REFUSED = { kind: 'refused', code: 'operator_unavailable', operatorCode: 'NOT_ENOUGH_FUNDS' } as const;
const NOT_ATTESTED = { type: 'NotAttested' };

describe('a true status of an operator in the wrong hands', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));
  let send: () => Promise<SendOutcome>;
  let query: () => Promise<StatusOutcome>;

  beforeEach(() => {
    send = () => Promise.resolve(ACCEPTED);
    query = () => Promise.resolve({ kind: 'pending' });
  });

  /** Our activities, as any worker of ours runs them for whoever asks Temporal to. */
  function activities(): PaymentActivities {
    const operator = {
      raisePrompt: () => send(),
      sendPayout: () => send(),
      refundCollection: () => send(),
      getCollectionStatus: () => query(),
      getPayoutStatus: () => query(),
      getRefundStatus: () => query(),
    };
    return createPaymentActivities({
      db,
      payments: createPayments(contextOf(db)),
      releases: createReleaseAttestor({ environment: 'test', keyRing: KEY_RING }),
      attestor: createStatusAttestor({ environment: 'test', keyRing: KEY_RING, sealingKeys: KEY_RING, log: testLog }),
      operators: { 'mtn-momo': operator },
      clocks: TEST_CLOCKS,
      log: testLog,
    } as unknown as PaymentActivityDeps);
  }

  const SENDABLE: Readonly<Record<PaymentKind, () => Promise<PaymentRef>>> = {
    async collection() {
      const { id, merchantId } = await makeCollection(db, shop.merchantId);
      return { kind: 'collection', id, merchantId };
    },
    async payout() {
      const { id, merchantId } = await queue(db, shop, 1000n);
      await release(db, shop.approver, id);
      return { kind: 'payout', id, merchantId };
    },
    async reversal() {
      const collection = await makeCollection(db, shop.merchantId, 'succeeded');
      const { id, merchantId } = await makeReversal(db, shop, collection);
      return { kind: 'reversal', id, merchantId };
    },
  };
  const FIRST = { collection: 'initiated', payout: 'released', reversal: 'released' } as const;
  /** Of a collection the acceptance is a state, and recorded by the activity that got it. */
  const ACCEPTED_STATE = { ...FIRST, collection: 'prompted' } as const;

  const rowOf = ({ id }: PaymentRef) =>
    oneRow<{ state: string; failure_code: string | null }>(
      db,
      `SELECT state, failure_code FROM payments WHERE id = $1`,
      [id],
    );
  const stateOf = async (ref: PaymentRef) => (await rowOf(ref)).state;
  const recordBy = (ref: PaymentRef, transition: object, attested: AttestedStatus | null) =>
    activities().recordTransition({ ref, transition: transition as PaymentTransitionInput, attested });

  type Refusal = Pick<SendResult & { readonly kind: 'refused' }, 'failureCode' | 'attested'>;

  /** A refusal of its first send, which is not recorded. That of a collection is, by the activity that got it, unless that failed. */
  async function refusal(ref: PaymentRef): Promise<Refusal> {
    if (ref.kind === 'collection') {
      await markSendBegun(db, ref, new Date());
      const status = { kind: 'refused', failureCode: REFUSED.code } as const;
      return {
        failureCode: REFUSED.code,
        attested: attest(ref.id, status, Date.now(), { environment: 'test', keyRing: KEY_RING }),
      };
    }
    send = () => Promise.resolve(REFUSED);
    const result = await activities().sendWithOperator(ref);
    assert.ok(result.kind === 'refused');
    return result;
  }
  const declinedBy = ({ failureCode }: { readonly failureCode: string }) => ({ kind: 'declined', failureCode });

  for (const kind of ['collection', 'payout', 'reversal'] as const) {
    it(`ends a ${kind} by the refusal of a send that nobody repeated`, async () => {
      const ref = await SENDABLE[kind]();
      const result = await refusal(ref);
      await recordBy(ref, declinedBy(result), result.attested);
      assert.equal(await stateOf(ref), 'failed');
    });

    it(`does not end a ${kind} by a refusal that was held back while it was sent again`, async () => {
      const ref = await SENDABLE[kind]();
      const result = await refusal(ref);
      send = () => Promise.resolve(ACCEPTED);
      assert.equal((await activities().sendWithOperator(ref)).kind, 'accepted');
      await recordBy(ref, declinedBy(result), result.attested);
      assert.equal(await stateOf(ref), ACCEPTED_STATE[kind], 'the operator pays the second');
    });

    it(`does not end a ${kind} by a refusal that is recorded at the moment when it is sent again`, async () => {
      const ref = await SENDABLE[kind]();
      const result = await refusal(ref);
      send = () => Promise.resolve(ACCEPTED);
      const client = await db.pool.connect();
      try {
        await client.query('BEGIN');
        await client.query(`SELECT 1 FROM payments WHERE id = $1 FOR NO KEY UPDATE`, [ref.id]);
        // The lock makes the send wait first, and the refusal behind it.
        const sent = activities().sendWithOperator(ref);
        await untilOneWaits(db);
        const recorded = recordBy(ref, declinedBy(result), result.attested).catch((error: unknown) => {
          assert.match(String(error), /^Error: rev_\w+ changed while its transition was being recorded$/);
        });
        await client.query('COMMIT');
        const outcome = await sent;
        await recorded;
        assert.equal(await stateOf(ref), outcome.kind === 'accepted' ? ACCEPTED_STATE[kind] : 'failed', 'never both');
      } finally {
        client.release(true);
      }
    });

    it(`is an acceptance of a ${kind} only if the operator gave it`, async () => {
      const ref = await SENDABLE[kind]();
      const forged: AttestedStatus = { status: { kind: 'pending' }, queriedAtMs: Date.now(), attestation: 'AAAA' };
      query = () => Promise.resolve({ kind: 'not_found' });
      const notFound = await activities().queryStatusWithOperator(ref);
      query = () => Promise.resolve({ kind: 'pending' });
      const ofOther = await activities().queryStatusWithOperator(await SENDABLE[kind]());
      const accept = (attested: AttestedStatus) =>
        ref.kind === 'collection'
          ? recordBy(ref, { kind: 'prompt_accepted' }, attested)
          : activities().recordAccepted({ ref, attested });
      for (const attested of [forged, notFound, ofOther]) await assert.rejects(accept(attested), NOT_ATTESTED);
      assert.equal(await stateOf(ref), FIRST[kind]);
      const sent = await activities().sendWithOperator(ref);
      assert.ok(sent.kind === 'accepted');
      await accept(sent.attested);
    });
  }

  it('does not end a collection by a prompt that expired before its window was over, however late it is handed in', async () => {
    const collection = await makeCollection(db, shop.merchantId, 'initiated');
    const ref = { kind: 'collection', id: collection.id, merchantId: shop.merchantId } as const;
    query = () => Promise.resolve({ kind: 'failed', code: 'prompt_expired', operatorCode: 'EXPIRED' });
    const early = await activities().queryStatusWithOperator(ref);
    const acceptedAt = new Date(Date.now() - TEST_CLOCKS.promptWindowMs + 500);
    const { promptExpiresAt } = await record(db, collection, { kind: 'prompt_accepted' }, acceptedAt);
    const expired = { kind: 'expired', failureCode: 'prompt_expired' };
    await recordBy(ref, expired, early);
    assert.equal(await stateOf(ref), 'prompted');
    await eventually('the end of the window', () => Date.now() > Number(promptExpiresAt));
    await recordBy(ref, expired, early);
    assert.equal(await stateOf(ref), 'prompted', 'it says nothing of the time after it');
    await recordBy(ref, { kind: 'declined', failureCode: 'prompt_expired' }, early);
    assert.equal(await stateOf(ref), 'prompted', 'nor is it a refusal');
    await recordBy(ref, expired, await activities().queryStatusWithOperator(ref));
    assert.equal(await stateOf(ref), 'expired');
  });

  it('frees no money of a payout by statuses of before its send, with a send deadline that was added to an input', async () => {
    const { notFoundGraceMs: graceMs, notFoundSpanMs: spanMs } = TEST_CLOCKS;
    const { id, merchantId } = await queue(db, shop, 1000n);
    const ref = { kind: 'payout', id, merchantId } as const;
    // While it was queued the operator did not know it: nobody had sent it.
    const before = [0, spanMs / 2, spanMs].map((ms) =>
      attest(id, { kind: 'not_found' }, Date.now() - 2 * spanMs + ms, { environment: 'test', keyRing: KEY_RING }),
    );
    await release(db, shop.approver, id);
    const { sendDeadlineAt } = await getPayout(db, merchantId, id);
    const [, held] = await balanceOf(db, merchantId);
    assert.equal((await activities().sendWithOperator(ref)).kind, 'accepted');
    const longAgo = new Date(Date.now() - 2 * spanMs - 2 * graceMs);
    await recordBy(ref, { kind: 'outcome_unknown', sendDeadlineAt: longAgo }, null);
    assert.deepEqual((await getPayout(db, merchantId, id)).sendDeadlineAt, sendDeadlineAt);
    for (const attested of before) await activities().recordNotFound({ ref, attested });
    const [, , last] = before;
    assert.ok(last);
    await recordBy(ref, { kind: 'never_accepted', queriedAtMs: last.queriedAtMs }, last);
    assert.equal(await stateOf(ref), 'reconciling');
    assert.deepEqual((await balanceOf(db, merchantId))[1], held);
  });

  it('begins the count of the evidence again by no unknown status of before, handed in once more', async () => {
    const { id, merchantId } = await queue(db, shop, 1000n);
    await release(db, shop.approver, id);
    const ref = { kind: 'payout', id, merchantId } as const;
    await activities().sendWithOperator(ref);
    await tamper(
      db,
      'UPDATE payments SET not_found_count = 2, not_found_since = now(), not_found_last_at = now() WHERE id = $1',
      [id],
    );
    const before = attest(id, { kind: 'unknown' }, Date.now() - 3_600_000, { environment: 'test', keyRing: KEY_RING });
    await activities().recordNotFound({ ref, attested: before });
    assert.equal((await getPayout(db, merchantId, id)).notFoundCount, 2);
    const later = attest(id, { kind: 'unknown' }, Date.now(), { environment: 'test', keyRing: KEY_RING });
    await activities().recordNotFound({ ref, attested: later });
    assert.equal((await getPayout(db, merchantId, id)).notFoundCount, 0);
  });

  it('is none that nobody attested: no evidence of a refusal, and no discrepancy, follows from it', async () => {
    const { id, merchantId } = await queue(db, shop, 1000n);
    await release(db, shop.approver, id);
    const ref = { kind: 'payout', id, merchantId } as const;
    await activities().sendWithOperator(ref);
    const attested = await activities().queryStatusWithOperator(ref);
    for (const kind of ['not_found', 'unknown'] as const) {
      const forged = { ...attested, status: { kind } };
      await assert.rejects(activities().recordNotFound({ ref, attested: forged }), NOT_ATTESTED);
    }
    const forged = {
      ...attested,
      status: { kind: 'paid_otherwise', operatorReceipt: '4711', reported: null } as const,
    };
    await assert.rejects(activities().recordDiscrepancy({ ref, attested: forged }), NOT_ATTESTED);
    assert.deepEqual(valuesOf(await findOpenDiscrepancies(db, 100), 'subject').includes(id), false);
  });

  it('decides as a person in no input: what people decide, and what no table knows, is refused', async () => {
    const ref = await SENDABLE.payout();
    const attested = await activities().queryStatusWithOperator(ref);
    const by = shop.approver.userId;
    for (const transition of [
      { kind: 'released', sendDeadlineAt: new Date(), releaseAttestation: 'x'.repeat(43) },
      { kind: 'rejected', by, reason: 'for a test' },
      { kind: 'cancelled', by: shop.maker.userId },
      { kind: 'anything' },
      { kind: 'paid', operatorReceipt: '42' },
    ]) {
      for (const each of [null, attested]) await assert.rejects(recordBy(ref, transition, each), NOT_ATTESTED);
    }
    assert.equal(await stateOf(ref), 'released');
  });

  it('is none of another payment or of another merchant’s', async () => {
    const [payout, other] = [await SENDABLE.payout(), await SENDABLE.payout()];
    query = () => Promise.resolve({ kind: 'failed', code: 'operator_rejected', operatorCode: 'NOT_ALLOWED' });
    const attested = await activities().queryStatusWithOperator(other);
    const declined = { kind: 'declined', failureCode: 'operator_rejected' };
    await assert.rejects(recordBy(payout, declined, attested), NOT_ATTESTED);
    const { merchantId } = await makeShop(db, 0n);
    const elsewhere = { ...payout, merchantId } as PaymentRef;
    for (const call of [
      () => activities().loadPayment(elsewhere),
      () => activities().sendWithOperator(elsewhere),
      () => activities().queryStatusWithOperator(elsewhere),
      () => recordBy(elsewhere, { kind: 'outcome_unknown' }, null),
    ]) {
      await assert.rejects(call(), { type: 'payout_not_found' });
    }
    assert.equal(await stateOf(payout), 'released');
  });

  it('brings no detail into a discrepancy that the operator did not give', async () => {
    const { id, merchantId } = await queue(db, shop, 1000n);
    await release(db, shop.approver, id);
    const ref = { kind: 'payout', id, merchantId } as const;
    await recordPayout(db, ref, { kind: 'paid', operatorReceipt: `of ${id}` });
    query = () => Promise.resolve({ kind: 'failed', code: 'operator_rejected', operatorCode: 'NOT_ALLOWED' });
    const attested = await activities().queryStatusWithOperator(ref);
    const added = { operatorReceipt: '4711', reported: { amount: '1', currency: 'UGX' } };
    const status = { ...attested.status, ...added };
    await activities().recordDiscrepancy({ ref, attested: { ...attested, status } });
    const [found] = (await findOpenDiscrepancies(db, 100)).filter(({ subject }) => subject === id);
    assert.equal(found?.kind, 'declined_after_paid');
    assert.deepEqual([found.operatorReceipt, found.reportedAmount, found.reportedCurrency], [null, null, null]);
  });

  /** As a worker runs it, whose heartbeats go nowhere here. */
  async function recheckNow({ id }: PaymentRef): Promise<void> {
    await tamper(db, `UPDATE payments SET check_due_at = now() WHERE id = $1`, [id]);
    const context = { heartbeat: () => undefined, cancellationSignal: new AbortController().signal };
    const { withNews } = await asyncLocalStorage.run(context as unknown as Context, () =>
      activities().recheckBatch('mtn-momo'),
    );
    assert.ok(withNews > 0);
  }

  it('is recorded by the process that has it, and not left to a workflow, when a recheck finds that money was returned', async () => {
    const { id, merchantId } = await makeCollection(db, shop.merchantId, 'succeeded');
    const ref = { kind: 'collection', id, merchantId } as const;
    const [available] = await balanceOf(db, merchantId);
    query = () => Promise.resolve({ kind: 'returned', receipt: '4711', paid: { amount: '5000', currency: 'UGX' } });
    await recheckNow(ref);
    assert.equal(await stateOf(ref), 'reversed');
    assert.equal((await balanceOf(db, merchantId))[0], available - 5000n);
  });

  it('is recorded in the same way when a recheck finds a contradiction', async () => {
    const ref = await SENDABLE.payout();
    const result = await refusal(ref);
    await recordBy(ref, declinedBy(result), result.attested);
    query = () => Promise.resolve({ kind: 'succeeded', receipt: '4712', paid: { amount: '1000', currency: 'UGX' } });
    await recheckNow(ref);
    const found = (await findOpenDiscrepancies(db, 100)).filter(({ subject }) => subject === ref.id);
    assert.deepEqual(valuesOf(found, 'kind'), ['paid_after_failed']);
    assert.equal(await stateOf(ref), 'failed');
  });

  it('leaves a ledger that adds up', async () => {
    const open = valuesOf(await findOpenDiscrepancies(db, 100), 'subject');
    assert.deepEqual(
      (await checkLedger(db)).filter(({ subject }) => !open.some((id) => id === subject)),
      [],
    );
  });
});
