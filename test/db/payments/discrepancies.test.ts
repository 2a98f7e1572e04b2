// Operators that contradict a recorded outcome: recorded once, reported until it is settled, and never posted by itself.
import assert from 'node:assert/strict';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { getCollection } from '../../../src/db/payments/collection.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { listAuditEntries } from '../../../src/operations/accounts/audit-log.ts';
import { findOpenDiscrepancies } from '../../../src/db/payments/discrepancy.ts';
import { recordDiscrepancy } from '../../../src/operations/payments/record-discrepancy.ts';
import { settleDiscrepancy } from '../../../src/operations/payments/settle-discrepancy.ts';
import { balanceOf, makePayout, makeShop } from './payout-rows.ts';
import { confirmRefund, makeReversal, recordReversal } from './refund-rows.ts';
import { makeCollection, record, tamper, TEST_CLOCKS } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';
import { AMINA } from '../../support/staff.ts';
import { columnsOf, valuesOf } from '../../support/values-of.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';

const PAID: OperatorStatus = { kind: 'paid', operatorReceipt: '4711' };
const DECLINED: OperatorStatus = { kind: 'declined', failureCode: 'operator_rejected' };

describe('an operator’s contradiction of a recorded outcome', () => {
  const db = useDatabasePerCase();
  const shop = useFixturePerCase(() => makeShop(db, 100_000n));

  /** The contradiction that is found, or null. */
  async function report(ref: PaymentRef, status: OperatorStatus): Promise<string | null> {
    return (await recordDiscrepancy(db, { ref, status, queriedAtMs: Date.now(), at: new Date() }))?.kind ?? null;
  }
  const reportPayout = ({ id }: Pick<Payout, 'id'>, status: OperatorStatus) =>
    report({ kind: 'payout', id, merchantId: shop.merchantId }, status);
  const reportCollection = ({ id }: Collection, status: OperatorStatus) =>
    report({ kind: 'collection', id, merchantId: shop.merchantId }, status);
  const balance = () => balanceOf(db, shop.merchantId);
  const found = async () => {
    const { items } = await listAuditEntries(db, shop.merchantId, {}, 100);
    return items.flatMap(({ action, subjectId, after }) =>
      action.endsWith('.discrepancy_found') ? [[action, subjectId, after]] : [],
    );
  };

  it('is recorded once for a failed payout that the operator paid, however often it says so, and moves no money', async () => {
    const payout = await makePayout(db, shop, 'failed');
    const before = await balance();
    for (let i = 0; i < 3; i++) assert.equal(await reportPayout(payout, PAID), 'paid_after_failed');
    assert.deepEqual(await balance(), before);
    assert.deepEqual(await getPayout(db, shop.merchantId, payout.id), payout);
    assert.deepEqual(await found(), [
      ['payout.discrepancy_found', payout.id, { kind: 'paid_after_failed', operator_receipt: '4711' }],
    ]);
  });

  it('is none where the operator said that a prompt expired, and later that it was paid', async () => {
    const { id, updatedAt } = await makeCollection(db, shop.merchantId, 'succeeded');
    const ref = { kind: 'collection', id, merchantId: shop.merchantId } as const;
    const status = { kind: 'declined', failureCode: 'prompt_expired' } as const;
    const queried = (queriedAtMs: number) => recordDiscrepancy(db, { ref, status, queriedAtMs, at: new Date() });
    assert.equal(await queried(updatedAt.getTime() - 1), null);
    assert.equal((await queried(updatedAt.getTime()))?.kind, 'declined_after_paid');
  });

  it('is recorded for a payout that is posted as paid and that the operator declined', async () => {
    const payout = await makePayout(db, shop, 'succeeded');
    assert.equal(await reportPayout(payout, DECLINED), 'declined_after_paid');
    assert.equal((await checkLedger(db)).length, 1);
  });

  it('is a fault in the ledger check until a person records how it was settled', async () => {
    const payout = await makePayout(db, shop, 'failed');
    await reportPayout(payout, PAID);
    const [fault, ...others] = await checkLedger(db);
    assert.deepEqual([fault?.subject, others], [payout.id, []]);
    assert.match(fault!.fault, /paid according to the operator \(operator receipt: 4711\)$/);
    const [open] = await findOpenDiscrepancies(db, 10);
    const { merchantId } = shop;
    assert.deepEqual([open?.merchantId, open?.subject, open?.kind], [merchantId, payout.id, 'paid_after_failed']);
    const settle = (id: string) =>
      settleDiscrepancy(db, { id, how: 'the payee sent it back', by: AMINA, at: new Date() });
    assert.equal(await settle(String(BigInt(open!.id) + 1n)), null);
    assert.equal((await checkLedger(db)).length, 1);
    // When several people settle it at once, one of them does, and one entry is recorded.
    const answers = await Promise.all([1, 2, 3].map(() => settle(open!.id)));
    const found = answers.filter((answer) => answer !== null);
    assert.deepEqual(found, [open]);
    assert.deepEqual([await checkLedger(db), await findOpenDiscrepancies(db, 10)], [[], []]);
    await reportPayout(payout, PAID);
    assert.deepEqual(await checkLedger(db), [], 'a settled discrepancy stays settled');
    const { items } = await listAuditEntries(db, merchantId, {}, 100);
    const settled = items.filter(({ action }) => action.endsWith('.discrepancy_settled'));
    assert.deepEqual(columnsOf(settled, 'user', 'action', 'subjectId', 'after'), [
      [
        null,
        'payout.discrepancy_settled',
        payout.id,
        { kind: 'paid_after_failed', settlement: 'the payee sent it back' },
      ],
    ]);
  });

  it('is recorded for a failed collection that the operator charged, and credits nothing', async () => {
    const { merchantId } = shop;
    const collection = await makeCollection(db, merchantId, 'failed');
    const before = await balance();
    for (let i = 0; i < 2; i++) assert.equal(await reportCollection(collection, PAID), 'paid_after_failed');
    assert.deepEqual(await found(), [
      ['collection.discrepancy_found', collection.id, { kind: 'paid_after_failed', operator_receipt: '4711' }],
    ]);
    const [fault, ...others] = await checkLedger(db);
    assert.deepEqual([fault?.subject, others], [collection.id, []]);
    assert.deepEqual([await balance(), await getCollection(db, merchantId, collection.id)], [before, collection]);
    const [open] = await findOpenDiscrepancies(db, 10);
    await settleDiscrepancy(db, { id: open!.id, how: 'given back to the payer manually', by: AMINA, at: new Date() });
    const { items } = await listAuditEntries(db, merchantId, {}, 1);
    assert.deepEqual([items[0]?.action, items[0]?.subjectId], ['collection.discrepancy_settled', collection.id]);
  });

  it('is recorded for a collection that is posted as paid and that the operator declined', async () => {
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    assert.equal(await reportCollection(collection, DECLINED), 'declined_after_paid');
    assert.equal((await checkLedger(db)).length, 1);
  });

  it('is not recorded for statuses that the collection’s own transitions allow for', async () => {
    const { merchantId } = shop;
    const expired = await makeCollection(db, merchantId, 'expired');
    const reversed = await makeCollection(db, merchantId, 'reversed');
    const failed = await makeCollection(db, merchantId, 'failed');
    const RETURNED: OperatorStatus = { kind: 'returned', operatorReceipt: '4711' };
    const reports = [
      [expired, PAID],
      [reversed, PAID],
      [reversed, DECLINED],
      [failed, DECLINED],
      [failed, RETURNED],
    ] as const;
    for (const [collection, status] of reports) assert.equal(await reportCollection(collection, status), null);
    assert.deepEqual(await found(), []);
  });

  it('is recorded at once when other money was paid than was requested, whatever the state, with what was paid', async () => {
    const PAID_OTHERWISE: OperatorStatus = {
      kind: 'paid_otherwise',
      operatorReceipt: '4711',
      reported: { amount: '49.5', currency: 'UGX' },
    };
    const prompted = await makeCollection(db, shop.merchantId, 'prompted');
    const released = await makePayout(db, shop, 'released');
    const paid = await makeCollection(db, shop.merchantId, 'succeeded');
    const { id, merchantId } = await makeReversal(db, shop, paid);
    const before = await balance();
    assert.equal(await reportCollection(prompted, PAID_OTHERWISE), 'paid_otherwise');
    assert.equal(await reportPayout(released, PAID_OTHERWISE), 'paid_otherwise');
    assert.equal(await reportCollection(paid, PAID_OTHERWISE), 'paid_otherwise');
    assert.equal(await report({ kind: 'reversal', id, merchantId }, PAID_OTHERWISE), 'paid_otherwise');
    const repeated = await recordDiscrepancy(db, {
      ref: { kind: 'payout', id: released.id, merchantId },
      status: PAID_OTHERWISE,
      queriedAtMs: Date.now(),
      at: new Date(),
    });
    assert.equal(repeated?.isNew, false);
    assert.deepEqual(await balance(), before);
    const faults = await checkLedger(db);
    assert.deepEqual(valuesOf(faults, 'subject'), [prompted.id, released.id, paid.id, id]);
    // No amount: Temporal keeps the faults. The discrepancy itself has it.
    assert.match(
      String(faults[0]?.fault),
      /the operator reports a different amount, currency or phone than requested \(operator receipt: 4711\)$/,
    );
    const reported = {
      kind: 'paid_otherwise',
      operator_receipt: '4711',
      reported: { amount: '49.5', currency: 'UGX' },
    };
    assert.deepEqual((await found()).at(-1), ['collection.discrepancy_found', prompted.id, reported]);
  });

  it('is found again, after somebody settled it, when the operator then reports another receipt or other money', async () => {
    const payout = await makePayout(db, shop, 'released');
    const otherwise = (amount: string, operatorReceipt = '4711'): OperatorStatus => ({
      kind: 'paid_otherwise',
      operatorReceipt,
      reported: { amount, currency: 'UGX' },
    });
    const openAfter = async (status: OperatorStatus) => {
      await reportPayout(payout, status);
      return (await findOpenDiscrepancies(db, 10)).map((open) => [open.reportedAmount, open.operatorReceipt]);
    };
    const settleAll = async () => {
      for (const { id } of await findOpenDiscrepancies(db, 10)) {
        await settleDiscrepancy(db, { id, how: 'cleared with the operator', by: AMINA, at: new Date() });
      }
    };
    assert.deepEqual(await openAfter(otherwise('1')), [['1', '4711']]);
    assert.deepEqual(await openAfter(otherwise('2')), [['1', '4711']], 'one at a time');
    await settleAll();
    assert.deepEqual(await openAfter(otherwise('1')), [], 'what is settled stays settled');
    assert.deepEqual(await openAfter(otherwise('2')), [['2', '4711']]);
    await settleAll();
    assert.deepEqual(await openAfter(otherwise('2', '4712')), [['2', '4712']]);
  });

  it('is a fault of the ledger check that the operator has not decided a payout or refund for days', async () => {
    const payouts = [await makePayout(db, shop, 'reconciling'), await makePayout(db, shop, 'reconciling')];
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    const reversal = await makeReversal(db, shop, collection);
    await recordReversal(db, reversal, { kind: 'outcome_unknown' });
    assert.deepEqual(await checkLedger(db), []);
    for (const id of [payouts[0]!.id, reversal.id]) {
      await tamper(db, `UPDATE payments SET updated_at = now() - interval '73 hours' WHERE id = $1`, [id]);
    }
    assert.deepEqual(valuesOf(await checkLedger(db), 'subject'), [payouts[0]!.id, reversal.id]);
  });

  it('says so when what was paid cannot be read', async () => {
    const released = await makePayout(db, shop, 'released');
    const unreadable: OperatorStatus = { kind: 'paid_otherwise', operatorReceipt: null, reported: null };
    assert.equal(await reportPayout(released, unreadable), 'paid_otherwise');
    assert.deepEqual(
      (await checkLedger(db))[0]?.fault,
      'paid according to the operator, with an amount that cannot be read',
    );
  });

  it('keeps a collection reconciling until somebody settled what was paid otherwise', async () => {
    const { merchantId } = shop;
    const promptDeadlineAt = new Date(Date.now() - 2 * TEST_CLOCKS.reconcileForMs);
    const collection = await makeCollection(db, merchantId, 'reconciling', { promptDeadlineAt });
    await reportCollection(collection, {
      kind: 'paid_otherwise',
      operatorReceipt: '4711',
      reported: { amount: '1', currency: 'UGX' },
    });
    const undecided = { kind: 'undecided', queriedAtMs: Date.now() } as const;
    assert.equal((await record(db, collection, undecided)).state, 'reconciling');
    const [open] = await findOpenDiscrepancies(db, 10);
    await settleDiscrepancy(db, { id: open!.id, how: 'given back to the payer manually', by: AMINA, at: new Date() });
    assert.equal((await record(db, collection, undecided, new Date(Date.now() + 1))).failureCode, 'unknown');
  });

  it('is listed oldest first, up to the limit', async () => {
    const first = await makePayout(db, shop, 'failed');
    const second = await makeCollection(db, shop.merchantId, 'failed');
    await reportPayout(first, PAID);
    await reportCollection(second, PAID);
    const subjects = async (limit: number) => (await findOpenDiscrepancies(db, limit)).map(({ subject }) => subject);
    assert.deepEqual([await subjects(1), await subjects(10)], [[first.id], [first.id, second.id]]);
  });

  it('is not recorded when the status agrees or the payment is still pending', async () => {
    const failed = await makePayout(db, shop, 'failed');
    const succeeded = await makePayout(db, shop, 'succeeded');
    const released = await makePayout(db, shop, 'released');
    const reports = [
      reportPayout(failed, DECLINED),
      reportPayout(succeeded, PAID),
      reportPayout(released, PAID),
      reportPayout(released, DECLINED),
    ];
    assert.deepEqual(await Promise.all(reports), [null, null, null, null]);
    assert.deepEqual([await checkLedger(db), await found()], [[], []]);
  });

  it('is recorded for a failed refund that the operator paid, and the collection stays paid', async () => {
    const paid = await makeCollection(db, shop.merchantId, 'succeeded');
    const reversal = await makeReversal(db, shop, paid);
    await recordReversal(db, reversal, { kind: 'declined', failureCode: 'operator_rejected' });
    const { id, merchantId } = reversal;
    const ref = { kind: 'reversal', id, merchantId } as const;
    assert.equal(await report(ref, PAID), 'paid_after_failed');
    assert.deepEqual(valuesOf(await checkLedger(db), 'subject'), [id]);
    assert.equal((await found())[0]?.[0], 'reversal.discrepancy_found');
  });

  it('is recorded together with a refund of money that the provider had given back by itself', async () => {
    const paid = await makeCollection(db, shop.merchantId, 'succeeded');
    const reversal = await makeReversal(db, shop, paid);
    await record(db, paid, { kind: 'returned' });
    assert.equal(await confirmRefund(db, reversal), false);
    const [fault] = await checkLedger(db);
    assert.match(
      `${fault?.subject} ${fault?.fault}`,
      new RegExp(`^${reversal.id} the operator returned the collection on its own`),
    );
  });
});
