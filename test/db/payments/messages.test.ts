// Messages of an operator, from the address at which they come to what a worker records: who is believed, and when it is asked.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beginCollectionSend } from '../../../src/db/payments/payment-progress.ts';
import { getCollection } from '../../../src/db/payments/collection.ts';
import { listOperatorQueries } from '../../../src/db/payments/operator-message.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import type { MessagePurpose } from '../../../src/domain/payments/operator-catalogue.ts';
import type { Payment, PaymentRef } from '../../../src/domain/payments/payment.ts';
import { recordOperatorMessage } from '../../../src/operations/payments/record-operator-message.ts';
import type { OperatorMessage, SentPayment, StatusOutcome } from '../../../src/operators/port.ts';
import { queryWhatIsDue, testActivities, workerDeps } from '../../support/payment-activities.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { contextOf, countRows, makeCollection, tamper, TEST_CLOCKS } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { balanceOf, makePayout, makeShop } from './payout-rows.ts';

const PAID_AS_ASKED = { paid: { amount: '1000', currency: 'UGX' }, phone: '256772000100' } as const;
const DECLINED: StatusOutcome = { kind: 'failed', code: 'payer_not_found', operatorCode: '2040' };
const ASKED: StatusOutcome = { kind: 'asked' };

describe('a message of an operator', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));
  let asked: SentPayment[];
  let answer: StatusOutcome;
  let ref: PaymentRef<'collection' | 'payout'>;

  const query = (payment: SentPayment) => {
    asked.push(payment);
    return Promise.resolve(answer);
  };
  // The body of a message of these tests is what it says.
  const operator = {
    getCollectionStatus: query,
    getPayoutStatus: query,
    raisePrompt: () => Promise.resolve({ kind: 'unknown', reason: 'cut' }),
    readMessage: (_purpose: MessagePurpose, body: unknown) => body as OperatorMessage | null,
  };
  const deps = () =>
    workerDeps(db, {
      operators: { daraja: operator },
      clocks: { ...TEST_CLOCKS, operatorTimeoutMs: 50, minimumQueryGapMs: 0 },
    });

  beforeEach(() => {
    asked = [];
    answer = ASKED;
  });

  const load = (): Promise<Payment> =>
    ref.kind === 'payout' ? getPayout(db, ref.merchantId, ref.id) : getCollection(db, ref.merchantId, ref.id);
  const stateNow = async () => (await load()).state;

  async function came(
    status: StatusOutcome,
    { to = null, purpose = to === null ? 'result' : 'query', ...named }: Partial<Came> = {},
  ): Promise<{ readonly isKept: boolean }> {
    const { operatorReference } = await load();
    const message: OperatorMessage = { status, issuedId: null, operatorReference: null, ...named };
    return recordOperatorMessage(db, {
      ...{ operator: 'daraja', purpose, addressId: to ?? operatorReference, body: JSON.stringify(message) },
      contentType: 'application/json',
      sourceAddress: '127.0.0.1',
      receivedAt: new Date(),
    });
  }

  type Came = Partial<Omit<OperatorMessage, 'status'>> & {
    /** The query to whose address it comes. */
    readonly to: string | null;
    readonly purpose: MessagePurpose;
  };

  /** As the workflow does when it is signalled that something came. */
  const read = () => testActivities(deps(), 'daraja').queryStatusWithOperator(ref);
  const lastQuery = async () => (await listOperatorQueries(db, ref)).at(-1)?.id ?? null;

  describe('about a payout whose status comes by callback', () => {
    beforeEach(async () => {
      const { id, merchantId } = await makePayout(db, shop, 'released');
      ref = { kind: 'payout', id, merchantId };
      await tamper(
        db,
        `UPDATE payments SET operator = 'daraja', sends_once = true, send_begun_at = now(), operator_issued_id = $2 WHERE id = $1`,
        [id, `AG_${id}`],
      );
      await tamper(db, `UPDATE work SET operator = 'daraja' WHERE id = $1`, [id]);
      const attestation = contextOf(db).releases.attestRelease(await getPayout(db, merchantId, id));
      await tamper(db, 'UPDATE payments SET release_attestation = $2 WHERE id = $1', [id, attestation]);
    });

    const paid = (receipt = `SFC${randomUUID()}`): StatusOutcome => ({ kind: 'succeeded', receipt, ...PAID_AS_ASKED });

    it('has it paid at once, and asks nobody', async () => {
      await came(paid());
      await read();
      assert.deepEqual([await stateNow(), asked.length], ['succeeded', 0]);
    });

    it('that denies it is asked about, and fails it with the answer to that question', async () => {
      const [before] = await balanceOf(db, shop.merchantId);
      await came(DECLINED);
      await read();
      assert.deepEqual([await stateNow(), asked.map(({ queryId }) => queryId)], ['released', [await lastQuery()]]);
      await came(DECLINED, { to: await lastQuery() });
      await read();
      assert.deepEqual([await stateNow(), asked.length], ['failed', 1]);
      const [available] = await balanceOf(db, shop.merchantId);
      assert.equal(available, before + 1000n);
    });

    it('does not fail it however often it is repeated', async () => {
      for (let times = 0; times < 3; times++) {
        await came(DECLINED);
        await read();
      }
      assert.equal(await stateNow(), 'released');
    });

    it('to the address of a query counts once', async () => {
      await read();
      const to = await lastQuery();
      await came(DECLINED, { to });
      await came(DECLINED, { to });
      await read();
      assert.equal(await stateNow(), 'released');
    });

    it('is not believed to the address of a query that nobody made', async () => {
      const { isKept } = await came(paid(), { to: randomUUID() });
      await read();
      assert.deepEqual([isKept, await stateNow()], [true, 'released']);
    });

    it('is not believed where it names another payment, by our reference or by the operator’s id', async () => {
      await came(paid(), { operatorReference: randomUUID() });
      await came(paid(), { issuedId: 'AG_of_another' });
      await read();
      assert.equal(await stateNow(), 'released');
    });

    it('is not believed where it names no amount, although the operator’s statuses do, or another one', async () => {
      await came({ kind: 'succeeded', receipt: 'SFC-1' });
      await came({ kind: 'succeeded', receipt: 'SFC-1', paid: { amount: '1', currency: 'UGX' } });
      await read();
      assert.notEqual(await stateNow(), 'succeeded');
    });

    it('is not believed where no process of ours received it', async () => {
      await came(paid());
      await tamper(db, `UPDATE operator_callbacks SET body = replace(body, '2', '2 ') WHERE payment_id = $1`, [ref.id]);
      await read();
      assert.equal(await stateNow(), 'released');
    });

    it('is not believed before a send began', async () => {
      await tamper(db, 'UPDATE payments SET send_begun_at = NULL WHERE id = $1', [ref.id]);
      await came(paid());
      await read();
      assert.deepEqual([await stateNow(), asked], ['released', []]);
    });

    it('that it was not processed in time decides nothing, and is asked about', async () => {
      await came({ kind: 'unknown', reason: 'queue timeout' }, { purpose: 'timeout' });
      await read();
      assert.deepEqual([await stateNow(), asked.length], ['released', 1]);
    });

    it('that says nothing is not asked about again where it answers a query', async () => {
      await read();
      await came({ kind: 'unreadable', reason: 'no code' }, { to: await lastQuery() });
      await read();
      assert.equal(asked.length, 1);
    });

    it('is read by the queue, too, and what it decides needs no query', async () => {
      await came(paid());
      await tamper(
        db,
        `INSERT INTO work (id, task, kind, merchant_id, operator, priority, due_at)
        VALUES ($1, 'status_query', 'payout', $2, 'daraja', 1, now()) ON CONFLICT (id, task) DO UPDATE SET due_at = now()`,
        [ref.id, ref.merchantId],
      );
      await queryWhatIsDue(db, deps());
      assert.deepEqual([await stateNow(), asked.length], ['succeeded', 0]);
    });

    it('that it came back leads to a return once a second one says so, after it was paid', async () => {
      const receipt = `SFC${randomUUID()}`;
      const returned: StatusOutcome = { kind: 'returned', receipt, ...PAID_AS_ASKED };
      await came(paid(receipt));
      await read();
      await came(returned);
      await queryWhatIsDue(db, deps());
      assert.deepEqual([await stateNow(), asked.length], ['succeeded', 1]);
      await came(returned, { to: await lastQuery() });
      await queryWhatIsDue(db, deps());
      assert.deepEqual([await stateNow(), asked.length], ['reversed', 1]);
    });

    it('about a failed payout that contradicts it is asked about, and only two of them are shown to a person', async () => {
      await came(DECLINED);
      await read();
      await came(DECLINED, { to: await lastQuery() });
      await read();
      const contradictions = () => countRows(db, 'discrepancies WHERE payment_id = $1', [ref.id]);
      const again = paid();
      await came(again);
      await queryWhatIsDue(db, deps());
      assert.deepEqual([await contradictions(), asked.length], [0, 2]);
      await came(again, { to: await lastQuery() });
      await queryWhatIsDue(db, deps());
      assert.deepEqual([await stateNow(), await contradictions()], ['failed', 1]);
    });
  });

  describe('about a collection whose status is answered on the spot', () => {
    const succeeded = (receipt: string): StatusOutcome => ({
      kind: 'succeeded',
      receipt,
      phone: '256772000100',
      paid: { amount: '5000', currency: 'UGX' },
    });
    let issuedId: string;
    let receipt: string;

    beforeEach(async () => {
      const once = { operator: 'daraja', sendsOnce: true, receiptFollows: true } as const;
      const { id } = await makeCollection(db, shop.merchantId, 'initiated', once);
      ref = { kind: 'collection', id, merchantId: shop.merchantId };
      [issuedId, receipt] = [`ws_CO_${randomUUID()}`, `SFC${randomUUID()}`];
      answer = { kind: 'succeeded', receipt: null };
    });

    const accepted = async () => {
      await beginCollectionSend(db, ref as PaymentRef<'collection'>, new Date());
      await tamper(db, `UPDATE payments SET operator_issued_id = $2 WHERE id = $1`, [ref.id, issuedId]);
    };
    const receiptNow = async () => (await getCollection(db, ref.merchantId, ref.id)).operatorReceipt;

    it('decides nothing: the answer to the query that follows does', async () => {
      await accepted();
      answer = { kind: 'pending' };
      await came(succeeded(receipt), { issuedId });
      await read();
      assert.deepEqual([await stateNow(), asked.length], ['prompted', 1]);
    });

    it('brings the receipt of what the answer says was paid', async () => {
      await accepted();
      await came(succeeded(receipt), { issuedId });
      await read();
      assert.deepEqual([await stateNow(), await receiptNow()], ['succeeded', receipt]);
    });

    it('brings the receipt later, too, and no second one', async () => {
      await accepted();
      await read();
      assert.deepEqual([await stateNow(), await receiptNow()], ['succeeded', null]);
      await came(succeeded(receipt), { issuedId });
      await queryWhatIsDue(db, deps());
      await came(succeeded('SFC-FORGED'), { issuedId });
      await queryWhatIsDue(db, deps());
      assert.equal(await receiptNow(), receipt);
    });

    it('brings no receipt for another amount or another id', async () => {
      await accepted();
      await came({ ...succeeded(receipt), paid: { amount: '1', currency: 'UGX' } } as StatusOutcome, { issuedId });
      await came(succeeded(receipt), { issuedId: 'ws_CO_of_another' });
      await read();
      assert.deepEqual([await stateNow(), await receiptNow()], ['succeeded', null]);
    });

    describe('whose send had no answer', () => {
      beforeEach(async () => {
        await testActivities(deps(), 'daraja').sendWithOperator(ref);
        assert.equal(await stateNow(), 'reconciling');
      });

      const namedIds = () => asked.map((each) => [each.issuedId, each.namedId]);
      const DECLINED_PROMPT: StatusOutcome = { kind: 'failed', code: 'payer_cancelled', operatorCode: '1032' };

      it('is a reason to ask without the id, and an answer that names no receipt is not believed with it', async () => {
        await came(succeeded(receipt), { issuedId });
        await read();
        const { operatorIssuedId } = await load();
        assert.deepEqual([await stateNow(), operatorIssuedId, namedIds()], ['reconciling', null, [[null, null]]]);
      });

      it('is not needed where the operator finds what was paid by our reference', async () => {
        answer = succeeded(receipt);
        await read();
        const { sendBegunAt } = await load();
        assert.deepEqual([await stateNow(), await receiptNow()], ['succeeded', receipt]);
        assert.deepEqual(asked[0]?.sentAt, sendBegunAt);
      });

      it('that it failed names the id, and is believed with an answer that says the same', async () => {
        await came(DECLINED_PROMPT, { issuedId });
        answer = DECLINED_PROMPT;
        await read();
        const { operatorIssuedId } = await load();
        assert.deepEqual([await stateNow(), operatorIssuedId, namedIds()], ['failed', issuedId, [[null, issuedId]]]);
      });

      it('that it failed does not hide that it was paid', async () => {
        await came(DECLINED_PROMPT, { issuedId });
        answer = { kind: 'succeeded', receipt: null };
        await read();
        assert.equal(await stateNow(), 'reconciling');
        answer = succeeded(receipt);
        await read();
        assert.deepEqual([await stateNow(), await receiptNow()], ['succeeded', receipt]);
      });

      it('names nothing where two name different ids, or one says that it was paid', async () => {
        await came(DECLINED_PROMPT, { issuedId });
        await came(DECLINED_PROMPT, { issuedId: 'ws_CO_other' });
        answer = DECLINED_PROMPT;
        await read();
        assert.deepEqual([await stateNow(), namedIds()], ['reconciling', [[null, null]]]);
      });

      it('does not make the failure of another collection count twice', async () => {
        const other = await makeCollection(db, shop.merchantId, 'failed', { operator: 'daraja' });
        await tamper(db, 'UPDATE payments SET operator_issued_id = $2 WHERE id = $1', [other.id, issuedId]);
        await came(DECLINED_PROMPT, { issuedId });
        answer = DECLINED_PROMPT;
        await read();
        assert.equal(await stateNow(), 'reconciling');
      });
    });
  });

  it('whose payment is not on record is kept, and more than twenty to one address are not', async () => {
    const message = {
      ...({ operator: 'daraja', purpose: 'result', addressId: randomUUID(), body: '{}' } as const),
      ...{ contentType: '', sourceAddress: '127.0.0.1', receivedAt: new Date() },
    };
    for (let times = 0; times < 20; times++) {
      assert.deepEqual(await recordOperatorMessage(db, message), { payment: null, isKept: true });
    }
    assert.deepEqual(await recordOperatorMessage(db, message), { payment: null, isKept: false });
  });
});
