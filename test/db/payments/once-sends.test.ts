// Payments whose repeated send might pay twice: whatever happens around a send, the operator gets it once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { beginCollectionSend, recordReceipt } from '../../../src/db/payments/payment-progress.ts';
import { getCollection } from '../../../src/db/payments/collection.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import { ReceiptReused } from '../../../src/domain/payments/discrepancy.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import { isCancellable } from '../../../src/domain/payments/release.ts';
import type { SendOutcome, SentPayment, StatusOutcome } from '../../../src/operators/port.ts';
import { testActivities, workerDeps } from '../../support/payment-activities.ts';
import { sentAs } from '../../support/sent-payment.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { contextOf, makeCollection, makeMerchant, oneRow, record, tamper, TEST_CLOCKS } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { balanceOf, makePayout, makeShop } from './payout-rows.ts';

const UNKNOWN = { kind: 'unknown', reason: 'timed out', cause: 'no_answer' } as const;
const CANCELLED = { kind: 'failed', code: 'payer_cancelled', operatorCode: '1032' } as const;
const UNPROCESSED = { kind: 'unknown', reason: 'http 429', cause: 'busy', isUnprocessed: true } as const;
const OPERATOR_TIMEOUT_MS = 50;
/** So long after it began nobody is about to record what came of a send. */
const LONG_AGO_MS = 60_000;

describe('a collection that is sent once', () => {
  const db = useDatabase();
  const merchant = useFixture(() => makeMerchant(db).then((id) => ({ id })));
  let prompts: string[];
  let asked: SentPayment[];
  let answer: () => Promise<SendOutcome>;
  let status: StatusOutcome;
  const deps = () =>
    workerDeps(db, {
      operators: {
        daraja: {
          raisePrompt({ operatorReference }: { readonly operatorReference: string }) {
            prompts.push(operatorReference);
            return answer();
          },
          getCollectionStatus(payment: SentPayment) {
            asked.push(payment);
            return Promise.resolve(status);
          },
        },
      },
      clocks: { ...TEST_CLOCKS, operatorTimeoutMs: OPERATOR_TIMEOUT_MS, minimumQueryGapMs: 0 },
    });
  const send = (ref: PaymentRef) => testActivities(deps(), 'daraja').sendWithOperator(ref);
  const load = ({ id }: PaymentRef): Promise<Collection> => getCollection(db, merchant.id, id);

  beforeEach(() => {
    prompts = [];
    asked = [];
    answer = () => Promise.resolve({ kind: 'accepted', issuedId: `ws_CO_${randomUUID()}` });
    status = { kind: 'pending' };
  });

  async function newRef(): Promise<PaymentRef<'collection'>> {
    const { id } = await makeCollection(db, merchant.id, 'initiated', {
      ...{ operator: 'daraja', sendsOnce: true, receiptFollows: true },
    });
    return { kind: 'collection', id, merchantId: merchant.id };
  }

  const beganLongAgo = ({ id }: PaymentRef) =>
    tamper(db, `UPDATE payments SET send_begun_at = $2 WHERE id = $1`, [id, new Date(Date.now() - LONG_AGO_MS)]);

  async function isRetried(sending: Promise<unknown>, type: string): Promise<void> {
    await assert.rejects(sending, (error) => error instanceof ApplicationFailure && error.type === type);
  }

  it('is recorded as accepted with the id that the operator issued, and asked about by this id', async () => {
    const ref = await newRef();
    answer = () => Promise.resolve({ kind: 'accepted', issuedId: 'ws_CO_1' });
    const sent = await send(ref);
    assert.ok(sent.kind === 'recorded' && sent.snapshot.state === 'prompted');
    assert.equal((await load(ref)).operatorIssuedId, 'ws_CO_1');
    await testActivities(deps(), 'daraja').queryStatusWithOperator(ref);
    const { operatorReference, sendBegunAt } = await load(ref);
    assert.deepEqual(asked, [{ ...sentAs(operatorReference), issuedId: 'ws_CO_1', sentAt: sendBegunAt }]);
  });

  it('is reconciling at once after an unknown answer, and no further try sends it', async () => {
    const ref = await newRef();
    answer = () => Promise.resolve(UNKNOWN);
    const sent = await send(ref);
    assert.ok(sent.kind === 'recorded' && sent.snapshot.state === 'reconciling');
    await beganLongAgo(ref);
    assert.deepEqual(await send(ref), { kind: 'no_outcome' });
    assert.equal(prompts.length, 1);
  });

  it('is not sent where a send began whose process died, and is reconciling once that cannot be in progress', async () => {
    const ref = await newRef();
    assert.ok(await beginCollectionSend(db, ref, new Date()));
    await isRetried(send(ref), 'SendUnderWay');
    assert.equal((await load(ref)).state, 'initiated');
    await beganLongAgo(ref);
    assert.deepEqual(await send(ref), { kind: 'no_outcome' });
    assert.equal((await load(ref)).state, 'reconciling');
    assert.deepEqual(prompts, []);
  });

  it('is not sent again where its process died while the operator was called', async () => {
    const ref = await newRef();
    answer = () => Promise.reject(new Error('killed'));
    await assert.rejects(send(ref), /killed/);
    await beganLongAgo(ref);
    assert.deepEqual(await send(ref), { kind: 'no_outcome' });
    assert.deepEqual([(await load(ref)).state, prompts.length], ['reconciling', 1]);
  });

  it('is sent by one of many tries at once', async () => {
    const ref = await newRef();
    await Promise.allSettled(Array.from({ length: 5 }, () => send(ref)));
    assert.deepEqual([(await load(ref)).state, prompts.length], ['prompted', 1]);
  });

  it('is sent again after an answer that precedes processing, and the row says so first', async () => {
    const ref = await newRef();
    answer = () => Promise.resolve(UNPROCESSED);
    await isRetried(send(ref), 'OperatorUnknown');
    const { sendBegunAt, sendsTakenBack } = await load(ref);
    assert.deepEqual([sendBegunAt, sendsTakenBack], [null, 1]);
    await isRetried(send(ref), 'OperatorUnknown');
    answer = () => Promise.resolve({ kind: 'accepted', issuedId: 'ws_CO_2' });
    assert.equal((await send(ref)).kind, 'recorded');
    assert.deepEqual([(await load(ref)).sendsTakenBack, prompts.length], [2, 3]);
  });

  it('is not sent again where somebody else wrote that the operator did nothing with it', async () => {
    const ref = await newRef();
    answer = () => Promise.resolve(UNPROCESSED);
    await isRetried(send(ref), 'OperatorUnknown');
    answer = () => new Promise(() => undefined);
    void send(ref);
    while (prompts.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    const attestation = 'A'.repeat(43);
    await db.pool.query(
      `UPDATE payments SET send_begun_at = NULL, sends_taken_back = sends_taken_back + 1, take_back_attestation = $2 WHERE id = $1`,
      [ref.id, attestation],
    );
    assert.deepEqual(await send(ref), { kind: 'no_outcome' });
    assert.deepEqual([(await load(ref)).state, prompts.length], ['reconciling', 2]);
  });

  it('is not sent again after an answer that precedes processing where more is known of it meanwhile', async () => {
    const ref = await newRef();
    answer = async () => {
      await record(db, ref, { kind: 'prompt_accepted' });
      return UNPROCESSED;
    };
    const sent = await send(ref);
    assert.ok(sent.kind === 'recorded');
    assert.notEqual((await load(ref)).sendBegunAt, null);
    assert.deepEqual(await send(ref), { kind: 'no_outcome' });
    assert.equal(prompts.length, 1);
  });

  it('counts as never sent where every send was taken back until its deadline', async () => {
    const ref = await newRef();
    answer = () => Promise.resolve(UNPROCESSED);
    await isRetried(send(ref), 'OperatorUnknown');
    const { promptDeadlineAt } = await load(ref);
    const { state, failureCode } = await record(db, ref, { kind: 'never_sent' }, promptDeadlineAt);
    assert.deepEqual([state, failureCode], ['expired', 'service_unavailable']);
  });

  it('fails by the refusal of its send', async () => {
    const ref = await newRef();
    answer = () => Promise.resolve({ kind: 'refused', code: 'payer_not_found', operatorCode: '400.002.02' });
    const sent = await send(ref);
    assert.ok(sent.kind === 'recorded' && sent.snapshot.state === 'failed');
  });

  it('has the id that came with a late answer, although it was reconciling by then', async () => {
    const ref = await newRef();
    answer = async () => {
      await record(db, ref, { kind: 'outcome_unknown' });
      return { kind: 'accepted', issuedId: 'ws_CO_3' };
    };
    await send(ref);
    const { state, operatorIssuedId } = await load(ref);
    assert.deepEqual([state, operatorIssuedId], ['reconciling', 'ws_CO_3']);
  });

  it('has no id where the operator issued it for another payment before', async () => {
    const [first, second] = [await newRef(), await newRef()];
    answer = () => Promise.resolve({ kind: 'accepted', issuedId: 'ws_CO_4' });
    await send(first);
    const sent = await send(second);
    assert.ok(sent.kind === 'recorded' && sent.snapshot.state === 'prompted');
    assert.deepEqual([(await load(first)).operatorIssuedId, (await load(second)).operatorIssuedId], ['ws_CO_4', null]);
  });

  describe('that is paid without a receipt', () => {
    let ref: PaymentRef<'collection'>;
    const tell = (receipt: string) => recordReceipt(db, ref, receipt);

    beforeEach(async () => {
      ref = await newRef();
      await send(ref);
      status = { kind: 'succeeded', receipt: null };
      const { snapshot } = await testActivities(deps(), 'daraja').queryStatusWithOperator(ref);
      assert.equal(snapshot.state, 'succeeded');
    });

    it('has none until it comes, and that one for ever', async () => {
      assert.equal((await load(ref)).operatorReceipt, null);
      const receipt = `SFC${randomUUID()}`;
      assert.deepEqual([await tell(receipt), await tell('SFC-OTHER')], [true, false]);
      assert.equal((await load(ref)).operatorReceipt, receipt);
    });

    it('does not get the receipt of another payment', async () => {
      const receipt = `SFC${randomUUID()}`;
      await makeCollection(db, merchant.id, 'succeeded', { operator: 'daraja' });
      const other = await newRef();
      await send(other);
      await testActivities(deps(), 'daraja').queryStatusWithOperator(other);
      await recordReceipt(db, other, receipt);
      await assert.rejects(tell(receipt), ReceiptReused);
    });
  });

  it('is asked about without the id that the operator issued where that is lost, and is paid with a receipt alone', async () => {
    const ref = await newRef();
    answer = () => Promise.resolve(UNKNOWN);
    await send(ref);
    const { operatorReference, sendBegunAt } = await load(ref);
    const query = () => testActivities(deps(), 'daraja').queryStatusWithOperator(ref);
    const NO_ROW: StatusOutcome = { kind: 'unknown', reason: 'not listed as paid' };
    for (const nothing of [NO_ROW, { kind: 'succeeded', receipt: null }, CANCELLED] as const) {
      status = nothing;
      await query();
      assert.equal((await load(ref)).state, 'reconciling');
    }
    status = { kind: 'succeeded', receipt: `SFC${randomUUID()}` };
    await query();
    assert.equal((await load(ref)).state, 'succeeded');
    for (const each of asked) assert.deepEqual(each, { ...sentAs(operatorReference), sentAt: sendBegunAt });
  });

  it('does not end because the operator does not know it, however long after its deadline', async () => {
    const ref = await newRef();
    await send(ref);
    await tamper(
      db,
      `UPDATE payments SET state = 'reconciling', prompt_expires_at = NULL, send_deadline_at = now() - interval '10 minutes' WHERE id = $1`,
      [ref.id],
    );
    status = { kind: 'not_found' };
    await testActivities(deps(), 'daraja').queryStatusWithOperator(ref);
    assert.deepEqual([asked.length, (await load(ref)).state], [1, 'reconciling']);
    const at = new Date();
    const forced = await record(db, ref, { kind: 'never_accepted', queriedAtMs: at.getTime() }, at);
    assert.equal(forced.state, 'reconciling');
    const { state } = await oneRow<{ state: string }>(db, 'SELECT state FROM payments WHERE id = $1', [ref.id]);
    assert.equal(state, 'reconciling');
  });
});

describe('a payout that is sent once', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));
  let sends: number;
  let answer: SendOutcome;
  let ref: PaymentRef<'payout'>;

  const send = () =>
    testActivities(
      workerDeps(db, {
        operators: {
          daraja: {
            sendPayout() {
              sends += 1;
              return Promise.resolve(answer);
            },
          },
        },
        clocks: { ...TEST_CLOCKS, operatorTimeoutMs: OPERATOR_TIMEOUT_MS },
      }),
      'daraja',
    ).sendWithOperator(ref);
  const load = () => getPayout(db, ref.merchantId, ref.id);

  beforeEach(async () => {
    sends = 0;
    const { id, merchantId } = await makePayout(db, shop, 'released');
    ref = { kind: 'payout', id, merchantId };
    await tamper(db, `UPDATE payments SET operator = 'daraja', sends_once = true WHERE id = $1`, [id]);
    const attestation = contextOf(db).releases.attestRelease(await load());
    await tamper(db, 'UPDATE payments SET release_attestation = $2 WHERE id = $1', [id, attestation]);
  });

  it('is recorded as accepted with the id that the operator issued', async () => {
    answer = { kind: 'accepted', issuedId: `AG_${ref.id}` };
    assert.equal((await send()).kind, 'recorded');
    const { state, acceptedAt, operatorIssuedId } = await load();
    assert.deepEqual([state, acceptedAt !== null, operatorIssuedId], ['released', true, `AG_${ref.id}`]);
  });

  it('is reconciling after an unknown answer, keeps its money held, and is never sent again', async () => {
    const before = await balanceOf(db, shop.merchantId);
    answer = UNKNOWN;
    await send();
    assert.deepEqual(await send(), { kind: 'no_outcome' });
    assert.deepEqual([(await load()).state, sends], ['reconciling', 1]);
    assert.deepEqual(await balanceOf(db, shop.merchantId), before);
  });

  it('may be cancelled and is sent again while each send was taken back', async () => {
    answer = UNPROCESSED;
    await assert.rejects(send());
    assert.equal(isCancellable(await load()), true);
    answer = { kind: 'accepted', issuedId: `AG_${ref.id}` };
    await send();
    assert.deepEqual([isCancellable(await load()), sends], [false, 2]);
  });
});
