// A payment that nobody tried to send in time ends by that; a send and that end exclude each other.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { markSendBegun } from '../../../src/db/payments/payment-progress.ts';
import type { PaymentKind, PaymentRef } from '../../../src/domain/payments/payment.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { getCollection } from '../../../src/db/payments/collection.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { testActivities, workerDeps } from '../../support/payment-activities.ts';
import { makeCollection, oneRow, record, tamper, whileLocked } from '../rows.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { useDatabase } from '../use-database.ts';
import { balanceOf, makeShop, queue, recordPayout, release } from './payout-rows.ts';
import { makeReversal, recordReversal, requestReversal } from './refund-rows.ts';
import { findWork } from '../work-rows.ts';

type Sent = { readonly ref: PaymentRef; readonly deadline: Date };
type Ended = { readonly state: string; readonly failureCode: string | null };

// All times of these tests are in the past: ids continue from the latest time one was created for.
const LONG_AGO_MS = 60_000;
const LONG_AGO = { clocks: { payoutSendDeadlineMs: -LONG_AGO_MS } };

const NEVER_SENT = { kind: 'never_sent' } as const;
const OUTCOME_UNKNOWN = { kind: 'outcome_unknown' } as const;
const ENDS_AS = { collection: 'expired', payout: 'failed', reversal: 'failed' } as const;
const PENDING_IN = { collection: 'initiated', payout: 'released', reversal: 'released' } as const;

describe('a payment that nobody tried to send', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));

  /** A payment of this kind that may be sent now. */
  const makeSendable: Readonly<Record<PaymentKind, () => Promise<Sent>>> = {
    async collection() {
      const deadline = new Date(Date.now() - LONG_AGO_MS);
      const { id, merchantId } = await makeCollection(db, shop.merchantId, 'initiated', { promptDeadlineAt: deadline });
      return { ref: { kind: 'collection', id, merchantId }, deadline };
    },
    async payout() {
      const { id, merchantId } = await queue(db, shop, 1000n);
      await release(db, shop.approver, id, LONG_AGO);
      const { sendDeadlineAt } = await getPayout(db, merchantId, id);
      assert.ok(sendDeadlineAt);
      return { ref: { kind: 'payout', id, merchantId }, deadline: sendDeadlineAt };
    },
    async reversal() {
      const collection = await makeCollection(db, shop.merchantId, 'succeeded');
      const { id, merchantId, sendDeadlineAt } = await makeReversal(db, shop, collection, LONG_AGO);
      return { ref: { kind: 'reversal', id, merchantId }, deadline: sendDeadlineAt };
    },
  };

  function recordInput(
    { ref }: Sent,
    input: typeof NEVER_SENT | typeof OUTCOME_UNKNOWN,
    at = new Date(),
  ): Promise<Ended> {
    switch (ref.kind) {
      case 'collection':
        return record(db, ref, input, at);
      case 'payout':
        return recordPayout(db, ref, input, at);
      case 'reversal':
        return recordReversal(db, ref, input, at);
    }
  }

  /** Records the end; a reversal, which is read and written in one transaction, throws where its activity tries again. */
  async function end(sent: Sent): Promise<void> {
    await recordInput(sent, NEVER_SENT, sent.deadline).catch((error: unknown) => {
      assert.match(String(error), /^Error: rev_\w+ changed while its transition was being recorded$/);
    });
  }

  const before = ({ deadline }: Sent) => new Date(deadline.getTime() - 1);
  const beginSend = (sent: Sent, at = before(sent)) => markSendBegun(db, sent.ref, at);
  const beginsSend = (sent: Sent) => ({
    sql: `UPDATE payments SET send_begun_at = $2 WHERE id = $1`,
    values: [sent.ref.id, before(sent)],
  });

  for (const kind of ['collection', 'payout', 'reversal'] as const) {
    const first = PENDING_IN[kind];

    it(`ends from its deadline on when it is a ${kind}, and says that we did not send it`, async () => {
      const sent = await makeSendable[kind]();
      assert.equal((await recordInput(sent, NEVER_SENT, before(sent))).state, first);
      const { state, failureCode } = await recordInput(sent, NEVER_SENT, sent.deadline);
      assert.deepEqual([state, failureCode], [ENDS_AS[kind], 'service_unavailable']);
    });

    it(`ends also when its outcome was called unknown, as a ${kind}`, async () => {
      const sent = await makeSendable[kind]();
      await recordInput(sent, OUTCOME_UNKNOWN);
      assert.equal((await recordInput(sent, NEVER_SENT, sent.deadline)).failureCode, 'service_unavailable');
    });

    it(`may begin to be sent once, before its deadline and in its first state, as a ${kind}`, async () => {
      const sent = await makeSendable[kind]();
      const sends = [await beginSend(sent, sent.deadline), await beginSend(sent), await beginSend(sent)];
      assert.deepEqual(sends, [false, true, false]);
      const other = await makeSendable[kind]();
      await recordInput(other, OUTCOME_UNKNOWN);
      assert.equal(await beginSend(other), false);
    });

    it(`does not end so once a send began, before it or at the same moment, as a ${kind}`, async () => {
      const sent = await makeSendable[kind]();
      await whileLocked(db, beginsSend(sent), () => end(sent));
      assert.equal((await recordInput(sent, NEVER_SENT, sent.deadline)).state, first);
    });

    it(`does not begin to be sent once it ended so, before it or at the same moment, as a ${kind}`, async () => {
      const ended = await makeSendable[kind]();
      await recordInput(ended, NEVER_SENT, ended.deadline);
      assert.equal(await beginSend(ended), false);

      const racing = await makeSendable[kind]();
      // The lock makes the end wait first, and the send behind it.
      const lock = { sql: `SELECT 1 FROM payments WHERE id = $1 FOR NO KEY UPDATE`, values: [racing.ref.id] };
      let send: Promise<boolean> | undefined;
      await whileLocked(
        db,
        lock,
        () => end(racing),
        () => {
          send = beginSend(racing);
          return Promise.resolve();
        },
      );
      const isBegun = await send;
      const row = await oneRow<{ state: string; begun: boolean }>(
        db,
        `SELECT state, send_begun_at IS NOT NULL AS begun FROM payments WHERE id = $1`,
        [racing.ref.id],
      );
      assert.equal(row.begun, isBegun);
      assert.equal(row.state, isBegun ? first : ENDS_AS[kind], 'one of the two, and never both');
    });
  }

  it('does not end so as a collection that was prompted, even by an older version, which recorded no send', async () => {
    const sent = await makeSendable.collection();
    assert.ok(sent.ref.kind === 'collection');
    await record(db, sent.ref, { kind: 'prompt_accepted' });
    await record(db, sent.ref, OUTCOME_UNKNOWN);
    // As an earlier worker left it.
    await tamper(db, 'UPDATE payments SET send_begun_at = NULL WHERE id = $1', [sent.ref.id]);
    assert.equal((await record(db, sent.ref, NEVER_SENT)).state, 'reconciling');
  });

  it('counts as sent once its prompt was accepted, as a collection', async () => {
    const sent = await makeSendable.collection();
    assert.ok(sent.ref.kind === 'collection');
    const prompted = await record(db, sent.ref, { kind: 'prompt_accepted' });
    assert.notEqual(prompted.sendBegunAt, null);
    assert.deepEqual(await getCollection(db, sent.ref.merchantId, sent.ref.id), prompted);
  });

  it('is rechecked after it ended so, as a collection: an older version may have sent it', async () => {
    const sent = await makeSendable.collection();
    await recordInput(sent, NEVER_SENT, sent.deadline);
    assert.notEqual(await findWork(db, sent.ref.id, 'status_query'), null);
  });

  it('gives a payout’s held money back', async () => {
    const sent = await makeSendable.payout();
    const [available, held] = await balanceOf(db, shop.merchantId);
    await recordInput(sent, NEVER_SENT, sent.deadline);
    assert.deepEqual(await balanceOf(db, shop.merchantId), [available + 1000n, held - 1000n]);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('ends at once, and says why, when it is a refund of a collection that the operator returned first', async () => {
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    const { id, merchantId } = await makeReversal(db, shop, collection);
    const ref = { kind: 'reversal', id, merchantId } as const;
    assert.equal((await recordReversal(db, ref, NEVER_SENT)).state, 'released', 'it may still be sent');
    await record(db, collection, { kind: 'returned' });
    const { state, failureCode } = await recordReversal(db, ref, NEVER_SENT);
    assert.deepEqual([state, failureCode], ['failed', 'already_returned']);
    assert.equal(await markSendBegun(db, ref, new Date()), false);
  });

  it('does not end so once it was sent, when it is a refund of a collection that the operator returned', async () => {
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    const { id, merchantId } = await makeReversal(db, shop, collection);
    const ref = { kind: 'reversal', id, merchantId } as const;
    assert.equal(await markSendBegun(db, ref, new Date()), true);
    await record(db, collection, { kind: 'returned' });
    assert.equal((await recordReversal(db, ref, NEVER_SENT)).state, 'released');
  });

  it('leaves room for another reversal of the same collection', async () => {
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    const { id, merchantId, sendDeadlineAt } = await makeReversal(db, shop, collection, LONG_AGO);
    await recordReversal(db, { id, merchantId }, NEVER_SENT, sendDeadlineAt);
    assert.equal((await requestReversal(db, shop.maker, collection.id)).kind, 'accepted');
  });
});

describe('a try to send a payment', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));
  const fail = () => assert.fail('it was sent');

  /** The activities of a worker with an operator that must not be called. */
  const activities = () =>
    testActivities(workerDeps(db, { operators: { 'mtn-momo': { sendPayout: fail, refundCollection: fail } } }));

  it('reaches no operator when it begins in time and goes on only after the deadline', async () => {
    const { id, merchantId } = await queue(db, shop, 1000n);
    await release(db, shop.approver, id, { clocks: { payoutSendDeadlineMs: 5000 } });
    const { sendDeadlineAt } = await getPayout(db, merchantId, id);
    const row = { sql: 'SELECT 1 FROM payments WHERE id = $1 FOR UPDATE', values: [id] };
    const send = () => activities().sendWithOperator({ kind: 'payout', id, merchantId });
    const untilOver = () => sleep(sendDeadlineAt!.getTime() - Date.now() + 1);
    assert.deepEqual(await whileLocked(db, row, send, untilOver), { kind: 'no_outcome' });
  });

  it('reaches no operator for a refund of a collection that the operator has returned by itself', async () => {
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    const { id, merchantId } = await makeReversal(db, shop, collection);
    await record(db, collection, { kind: 'returned' });
    const sent = await activities().sendWithOperator({ kind: 'reversal', id, merchantId });
    assert.deepEqual(sent, { kind: 'no_outcome' });
  });
});
