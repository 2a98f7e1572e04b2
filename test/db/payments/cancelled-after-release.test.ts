// A released payout or refund is cancelled by its maker until somebody tries to send it: of the two, the row lets one pass.
import assert from 'node:assert/strict';
import { markSendBegun } from '../../../src/db/payments/payment-progress.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { getReversal } from '../../../src/db/payments/reversal.ts';
import type { MoneyOut, MoneyOutKind, PaymentRef } from '../../../src/domain/payments/payment.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { valuesOf } from '../../support/values-of.ts';
import { makeCollection, tamper, whileLocked } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { findWork } from '../work-rows.ts';
import { balanceOf, codeOr, decide, makeShop, queue, recordPayout, release } from './payout-rows.ts';
import { decideOnRefund, makeReversal } from './refund-rows.ts';

const CANCEL = { kind: 'cancel' } as const;
const FORGED = 'f'.repeat(43);

describe('a released payment that nobody tried to send', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));

  async function make(kind: MoneyOutKind): Promise<MoneyOut> {
    if (kind === 'reversal') return makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
    const { id } = await queue(db, shop, 1000n);
    await release(db, shop.approver, id);
    return getPayout(db, shop.merchantId, id);
  }
  const refOf = ({ kind, id, merchantId }: MoneyOut) => ({ kind, id, merchantId }) as PaymentRef<MoneyOutKind>;
  const read = ({ kind, id }: MoneyOut): Promise<MoneyOut> =>
    kind === 'payout' ? getPayout(db, shop.merchantId, id) : getReversal(db, shop.merchantId, id);
  const cancel = (payment: MoneyOut, by = shop.maker): Promise<MoneyOut> =>
    payment.kind === 'payout' ? decide(db, by, payment.id, CANCEL) : decideOnRefund(db, by, payment.id, CANCEL);
  const beginSend = (payment: MoneyOut) => markSendBegun(db, refOf(payment), new Date());

  for (const kind of ['payout', 'reversal'] as const) {
    it(`is cancelled by its maker alone, who gets the money back, as a ${kind}`, async () => {
      const before = await balanceOf(db, shop.merchantId);
      const payment = await make(kind);
      assert.equal(await codeOr(cancel(payment, shop.approver)), 'permission_denied');
      const cancelled = await cancel(payment);
      assert.deepEqual([cancelled.state, cancelled.decidedBy], ['cancelled', shop.maker.userId]);
      assert.deepEqual(await cancel(payment), cancelled, 'a repeat changes nothing');
      if (kind === 'payout') assert.deepEqual(await balanceOf(db, shop.merchantId), before);
      assert.equal((await findWork(db, payment.id))?.isStarted, false, 'its workflow is told');
      const { rows } = await db.pool.query<{ action: string }>(
        'SELECT action FROM audit_entries WHERE subject_id = $1 ORDER BY id',
        [payment.id],
      );
      assert.deepEqual(valuesOf(rows, 'action').slice(-2), [`${kind}.released`, `${kind}.cancelled`]);
      assert.deepEqual(await checkLedger(db), []);
    });

    it(`is not sent once it was cancelled, before that or at the same moment, as a ${kind}`, async () => {
      const cancelled = await make(kind);
      await cancel(cancelled);
      assert.equal(await beginSend(cancelled), false);

      const racing = await make(kind);
      const lock = { sql: 'SELECT 1 FROM payments WHERE id = $1 FOR UPDATE', values: [racing.id] };
      const sends: Promise<boolean>[] = [];
      await whileLocked(
        db,
        lock,
        () => codeOr(cancel(racing)),
        () => {
          sends.push(beginSend(racing));
          return Promise.resolve();
        },
      );
      const [isSent] = await Promise.all(sends);
      const { state, sendBegunAt } = await read(racing);
      // The one that gets the lock first.
      assert.equal(isSent, state !== 'cancelled');
      assert.equal(sendBegunAt !== null, isSent);
    });

    it(`is not cancelled once a send began, before that or at the same moment, as a ${kind}`, async () => {
      const sent = await make(kind);
      assert.equal(await beginSend(sent), true);
      assert.equal(await codeOr(cancel(sent)), 'state_conflict');

      const racing = await make(kind);
      const begins = { sql: 'UPDATE payments SET send_begun_at = now() WHERE id = $1', values: [racing.id] };
      const refused = await whileLocked(db, begins, () => codeOr(cancel(racing)));
      assert.equal(refused, 'state_conflict');
      assert.equal((await read(racing)).state, 'released');
    });

    it(`keeps its money when the service did not record its release, as a ${kind}`, async () => {
      const payment = await make(kind);
      await tamper(db, 'UPDATE payments SET release_attestation = $2 WHERE id = $1', [payment.id, FORGED]);
      assert.equal(await codeOr(cancel(payment)), 'state_conflict');
      assert.equal((await read(payment)).state, 'released');
    });
  }

  it('is cancelled no more when its outcome is open', async () => {
    const payment = await make('payout');
    await recordPayout(db, payment as Parameters<typeof recordPayout>[1], { kind: 'outcome_unknown' });
    assert.equal(await codeOr(cancel(payment)), 'state_conflict');
  });
});
