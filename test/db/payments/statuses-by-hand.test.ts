// What follows from an operator's answers, and what anyone who runs our activities with arguments of their own can add to that: nothing.
import assert from 'node:assert/strict';
import { findOpenDiscrepancies } from '../../../src/db/payments/discrepancy.ts';
import { markSendBegun } from '../../../src/db/payments/payment-progress.ts';
import type { InputWithoutStatus } from '../../../src/domain/payments/lifecycle.ts';
import type { PaymentKind, PaymentRef } from '../../../src/domain/payments/payment.ts';
import type { SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { queryWhatIsDue, testActivities, type TestActivities, workerDeps } from '../../support/payment-activities.ts';
import { eventually } from '../../support/test-environment.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { valuesOf } from '../../support/values-of.ts';
import { makeCollection, oneRow, record, tamper, TEST_CLOCKS, whileLocked } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { balanceOf, makeShop, queue, recordPayout, release } from './payout-rows.ts';
import { makeReversal } from './refund-rows.ts';
import { makeRecheckDue } from '../work-rows.ts';

const ACCEPTED: SendOutcome = { kind: 'accepted' };
/** What an operator says while its account is empty: the next try may succeed. */
const REFUSED = { kind: 'refused', code: 'operator_unavailable', operatorCode: 'NOT_ENOUGH_FUNDS' } as const;
const STATUS_MISSING = { type: 'StatusMissing' };

describe('an answer of an operator', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));
  let send: () => Promise<SendOutcome>;
  let query: () => Promise<StatusOutcome>;

  beforeEach(() => {
    send = () => Promise.resolve(ACCEPTED);
    query = () => Promise.resolve({ kind: 'pending' });
  });

  function deps() {
    const operator = {
      raisePrompt: () => send(),
      sendPayout: () => send(),
      refundCollection: () => send(),
      getCollectionStatus: () => query(),
      getPayoutStatus: () => query(),
      getRefundStatus: () => query(),
    };
    return workerDeps(db, {
      operators: { 'mtn-momo': operator },
      clocks: { ...TEST_CLOCKS, minimumQueryGapMs: 0 },
    });
  }
  /** Our activities, as any worker of ours runs them for anyone who asks Temporal to. */
  const activities = (): TestActivities => testActivities(deps());

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
    oneRow<{ state: string; is_accepted: boolean; failure_code: string | null }>(
      db,
      'SELECT state, accepted_at IS NOT NULL AS is_accepted, failure_code FROM payments WHERE id = $1',
      [id],
    );
  const stateOf = async (ref: PaymentRef) => (await rowOf(ref)).state;
  const isAccepted = async (ref: PaymentRef) => (await rowOf(ref)).is_accepted;
  const recordBy = (ref: PaymentRef, transition: object) =>
    activities().recordTransition({ ref, transition: transition as { kind: InputWithoutStatus } });

  /** What an operator answers once the test says so. */
  function laterAnswer<Outcome>(): {
    readonly answer: (outcome: Outcome) => void;
    readonly call: () => Promise<Outcome>;
    readonly untilCalled: () => Promise<unknown>;
  } {
    let answer: (outcome: Outcome) => void = () => undefined;
    const answered = new Promise<Outcome>((resolve) => (answer = resolve));
    let isCalled = false;
    const call = () => {
      isCalled = true;
      return answered;
    };
    return { answer, call, untilCalled: () => eventually('the call', () => isCalled) };
  }

  /** A first send that the operator has not answered yet. */
  async function openSend(ref: PaymentRef) {
    const { answer, call, untilCalled } = laterAnswer<SendOutcome>();
    send = call;
    const sent = activities().sendWithOperator(ref);
    await untilCalled();
    send = () => Promise.resolve(ACCEPTED);
    return { answer, sent };
  }

  for (const kind of ['collection', 'payout', 'reversal'] as const) {
    it(`ends a ${kind} by the refusal of a send that nobody repeated`, async () => {
      const ref = await SENDABLE[kind]();
      send = () => Promise.resolve(REFUSED);
      const sent = await activities().sendWithOperator(ref);
      assert.ok(sent.kind === 'recorded' && sent.snapshot.state === 'failed');
      assert.equal(await stateOf(ref), 'failed');
    });

    it(`does not end a ${kind} by a refusal that came late, while it was sent again`, async () => {
      const ref = await SENDABLE[kind]();
      const first = await openSend(ref);
      assert.equal((await activities().sendWithOperator(ref)).kind, 'recorded');
      first.answer(REFUSED);
      await first.sent;
      assert.equal(await stateOf(ref), ACCEPTED_STATE[kind], 'the operator pays the second');
    });

    it(`does not end a ${kind} by a refusal that is recorded at the moment when it is sent again`, async () => {
      const ref = await SENDABLE[kind]();
      const first = await openSend(ref);
      // The lock makes the send wait first, and the refusal behind it.
      const lock = { sql: 'SELECT 1 FROM payments WHERE id = $1 FOR NO KEY UPDATE', values: [ref.id] };
      const send = () => activities().sendWithOperator(ref);
      const outcome = await whileLocked(db, lock, send, () => {
        first.answer(REFUSED);
        return Promise.resolve();
      });
      await first.sent;
      assert.equal(await stateOf(ref), outcome.kind === 'recorded' ? ACCEPTED_STATE[kind] : 'failed', 'never both');
    });

    it(`is an acceptance of a ${kind} only if the operator gave it`, async () => {
      const ref = await SENDABLE[kind]();
      await assert.rejects(recordBy(ref, { kind: 'prompt_accepted' }), STATUS_MISSING);
      // Of another payment the operator gives one.
      await activities().queryStatusWithOperator(await SENDABLE[kind]());
      assert.equal(await stateOf(ref), FIRST[kind]);
      if (kind !== 'collection') {
        query = () => Promise.resolve({ kind: 'not_found' });
        await activities().queryStatusWithOperator(ref);
        assert.deepEqual([await stateOf(ref), await isAccepted(ref)], [FIRST[kind], false]);
      }
      const sent = await activities().sendWithOperator(ref);
      assert.ok(sent.kind === 'recorded' && sent.snapshot.state === ACCEPTED_STATE[kind]);
      assert.equal(await stateOf(ref), ACCEPTED_STATE[kind]);
      if (kind !== 'collection') assert.ok(await isAccepted(ref));
    });
  }

  it('does not end a collection by a prompt that expired before its window was over, however late the answer comes', async () => {
    const collection = await makeCollection(db, shop.merchantId, 'initiated');
    const ref = { kind: 'collection', id: collection.id, merchantId: shop.merchantId } as const;
    const EXPIRED: StatusOutcome = { kind: 'failed', code: 'prompt_expired', operatorCode: 'EXPIRED' };
    const acceptedAt = new Date(Date.now() - TEST_CLOCKS.promptWindowMs + 500);
    const { promptExpiresAt } = await record(db, collection, { kind: 'prompt_accepted' }, acceptedAt);
    const { answer, call } = laterAnswer<StatusOutcome>();
    query = call;
    const early = activities().queryStatusWithOperator(ref);
    query = () => Promise.resolve(EXPIRED);
    assert.equal((await activities().queryStatusWithOperator(ref)).snapshot.state, 'prompted');
    await eventually('the end of the window', () => Date.now() > Number(promptExpiresAt));
    answer(EXPIRED);
    assert.equal((await early).snapshot.state, 'prompted', 'it says nothing of the time after it');
    assert.equal(await stateOf(ref), 'prompted', 'nor is it a refusal');
    assert.equal((await activities().queryStatusWithOperator(ref)).snapshot.state, 'expired');
    assert.equal(await stateOf(ref), 'expired');
  });

  it('frees no money of a payout that may still be sent, with a send deadline that was added to an input', async () => {
    const { notFoundGraceMs: graceMs, notFoundSpanMs: spanMs } = TEST_CLOCKS;
    const { id, merchantId } = await queue(db, shop, 1000n);
    const ref = { kind: 'payout', id, merchantId } as const;
    await release(db, shop.approver, id);
    const { sendDeadlineAt } = await getPayout(db, merchantId, id);
    const [, held] = await balanceOf(db, merchantId);
    await markSendBegun(db, ref, new Date());
    const longAgo = new Date(Date.now() - 2 * spanMs - 2 * graceMs);
    await recordBy(ref, { kind: 'outcome_unknown', sendDeadlineAt: longAgo });
    assert.deepEqual((await getPayout(db, merchantId, id)).sendDeadlineAt, sendDeadlineAt);
    query = () => Promise.resolve({ kind: 'not_found' });
    for (let time = 1; time <= 3; time++) await activities().queryStatusWithOperator(ref);
    await assert.rejects(recordBy(ref, { kind: 'never_accepted', queriedAtMs: Date.now() }), STATUS_MISSING);
    assert.equal(await stateOf(ref), 'reconciling');
    assert.deepEqual((await balanceOf(db, merchantId))[1], held);
  });

  it('begins the count of the evidence again by no unknown status that is older than the last one counted', async () => {
    const { id, merchantId } = await queue(db, shop, 1000n);
    await release(db, shop.approver, id);
    const ref = { kind: 'payout', id, merchantId } as const;
    await markSendBegun(db, ref, new Date());
    const countAt = (at: string) =>
      tamper(
        db,
        `UPDATE payments SET send_deadline_at = date_trunc('milliseconds', now() - interval '1 day'), not_found_count = 2,
           not_found_since = ${at}, not_found_last_at = ${at} WHERE id = $1`,
        [id],
      );
    await countAt(`now() - interval '1 hour'`);
    const { answer, call, untilCalled } = laterAnswer<StatusOutcome>();
    query = call;
    const early = activities().queryStatusWithOperator(ref);
    await untilCalled();
    await countAt(`now() + interval '1 second'`);
    answer({ kind: 'unknown', reason: 'no answer' });
    await early;
    assert.equal((await getPayout(db, merchantId, id)).notFoundCount, 2);
    await countAt(`now() - interval '1 minute'`);
    query = () => Promise.resolve({ kind: 'unknown', reason: 'no answer' });
    await activities().queryStatusWithOperator(ref);
    assert.equal((await getPayout(db, merchantId, id)).notFoundCount, 0);
  });

  it('comes from no argument: no activity takes a status', () => {
    assert.deepEqual(Object.keys(activities()).sort(), [
      'loadPayment',
      'queryPayeeNameWithOperator',
      'queryStatusWithOperator',
      'recordTransition',
      'sendWithOperator',
    ]);
  });

  it('decides as a person in no input: what people or operators decide, and what no table knows, is refused', async () => {
    const ref = await SENDABLE.payout();
    const by = shop.approver.userId;
    for (const transition of [
      { kind: 'released', sendDeadlineAt: new Date(), releaseAttestation: 'x'.repeat(43) },
      { kind: 'rejected', by, reason: 'for a test' },
      { kind: 'cancelled', by: shop.maker.userId },
      { kind: 'anything' },
      { kind: 'paid', operatorReceipt: '42' },
      { kind: 'declined', failureCode: 'operator_rejected' },
      { kind: 'returned' },
      { kind: 'refunded' },
      { kind: 'undecided', queriedAtMs: 0 },
    ]) {
      await assert.rejects(recordBy(ref, transition), STATUS_MISSING);
    }
    assert.equal(await stateOf(ref), 'released');
  });

  it('is none of another payment or of another merchant’s', async () => {
    const [payout, other] = [await SENDABLE.payout(), await SENDABLE.payout()];
    query = () => Promise.resolve({ kind: 'failed', code: 'operator_rejected', operatorCode: 'NOT_ALLOWED' });
    assert.equal((await activities().queryStatusWithOperator(other)).snapshot.state, 'failed');
    assert.equal(await stateOf(payout), 'released');
    const { merchantId } = await makeShop(db, 0n);
    const elsewhere = { ...payout, merchantId } as PaymentRef;
    for (const call of [
      () => activities().loadPayment(elsewhere),
      () => activities().sendWithOperator(elsewhere),
      () => activities().queryStatusWithOperator(elsewhere),
      () => recordBy(elsewhere, { kind: 'outcome_unknown' }),
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
    await activities().queryStatusWithOperator(ref);
    const [found] = (await findOpenDiscrepancies(db, 100)).filter(({ subject }) => subject === id);
    assert.equal(found?.kind, 'declined_after_paid');
    assert.deepEqual([found.operatorReceipt, found.reportedAmount, found.reportedCurrency], [null, null, null]);
  });

  it('is the money that it reports, where that is not what was requested', async () => {
    const ref = await SENDABLE.payout();
    query = () => Promise.resolve({ kind: 'succeeded', receipt: '4711', paid: { amount: '1', currency: 'UGX' } });
    assert.equal((await activities().queryStatusWithOperator(ref)).snapshot.state, 'reconciling');
    const [found] = (await findOpenDiscrepancies(db, 100)).filter(({ subject }) => subject === ref.id);
    assert.equal(found?.kind, 'paid_otherwise');
    assert.deepEqual([found.operatorReceipt, found.reportedAmount, found.reportedCurrency], ['4711', '1', 'UGX']);
  });

  async function recheckNow({ id }: PaymentRef): Promise<void> {
    await makeRecheckDue(db, id);
    await queryWhatIsDue(db, deps());
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
    send = () => Promise.resolve(REFUSED);
    await activities().sendWithOperator(ref);
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
