// Rechecks of a final payment of which the operator gives no useful status: at growing gaps, and with an end that is shown.
import assert from 'node:assert/strict';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import { queryWhatIsDue } from '../../support/payment-activities.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { callBack, makeCollection, tamper, TEST_CLOCKS, countRows } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { makePayout, makeShop } from './payout-rows.ts';
import { makeReversal, recordReversal } from './refund-rows.ts';
import { findWork, makeRecheckDue } from '../work-rows.ts';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

describe('a final payment of which the operator gives no status', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));
  const logged: unknown[] = [];

  /** Rechecks what is due, with an operator that is unavailable. */
  async function recheck(): Promise<void> {
    const away = () => Promise.resolve({ kind: 'unknown', reason: 'no answer' });
    const operator = { getCollectionStatus: away, getPayoutStatus: away, getRefundStatus: away };
    const deps = {
      db,
      operators: { 'mtn-momo': operator },
      clocks: { ...TEST_CLOCKS, staleAfterMs: 10 * MINUTE, recheckForMs: 30 * DAY },
      log: { error: (fields: unknown) => logged.push(fields) },
    };
    await queryWhatIsDue(db, deps);
  }

  const MAKE = {
    collection: async () => makeCollection(db, shop.merchantId, 'succeeded'),
    payout: async () => makePayout(db, shop, 'failed'),
    async reversal() {
      const reversal = await makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
      return recordReversal(db, reversal, { kind: 'declined', failureCode: 'operator_rejected' });
    },
  } as const;

  /** How many minutes after a recheck that is so long after the outcome the next one follows; null: none does. */
  async function gapAt(ref: PaymentRef, ageMs: number): Promise<number | null> {
    const outcome = `updated_at = now() - make_interval(secs => $2 / 1000.0)`;
    await tamper(db, `UPDATE payments SET ${outcome} WHERE id = $1`, [ref.id, ageMs]);
    await makeRecheckDue(db, ref.id);
    await recheck();
    const work = await findWork(db, ref.id, 'status_query');
    // Some time has passed since.
    return work?.dueAt ? Math.round((work.dueAt.getTime() - Date.now()) / MINUTE / 10) * 10 : null;
  }

  const ended = ({ id }: PaymentRef) =>
    countRows(db, `audit_entries WHERE subject_id = $1 AND action LIKE '%.rechecks_ended'`, [id]);

  for (const kind of ['collection', 'payout', 'reversal'] as const) {
    it(`is rechecked at gaps that grow to a day, and after 30 days no more, which is shown, as a ${kind}`, async () => {
      const { id, merchantId } = await MAKE[kind]();
      const ref = { kind, id, merchantId } as PaymentRef;
      const gaps: (number | null)[] = [];
      for (const ageMs of [0, 10 * MINUTE, 60 * MINUTE, DAY, 29 * DAY]) gaps.push(await gapAt(ref, ageMs));
      assert.deepEqual(gaps, [10, 10, 60, 1440, 1440]);
      assert.deepEqual([await ended(ref), logged], [0, []]);
      assert.equal(await gapAt(ref, 30 * DAY + MINUTE), null);
      assert.deepEqual([await ended(ref), logged.splice(0)], [1, [{ kind, id, merchantId }]]);
    });
  }

  it('is rechecked from a later callback on as it was from its outcome on', async () => {
    const { id, merchantId, operatorReference } = await MAKE.payout();
    const ref = { kind: 'payout', id, merchantId } as const;
    assert.equal(await gapAt(ref, 31 * DAY), null);
    await callBack(db, operatorReference);
    assert.equal(await gapAt(ref, 31 * DAY), 10);
  });
});
