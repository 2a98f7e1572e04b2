// When a payout or refund that was sent fails because the operator does not know it: on evidence, and never on one status.
import assert from 'node:assert/strict';
import {
  addNotFound,
  markAccepted,
  markSendBegun,
  resetNotFounds,
  type SentPaymentRef,
} from '../../../src/db/payments/payment-progress.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { getReversal } from '../../../src/db/payments/reversal.ts';
import { claimQueries, findRechecked, finishQueries } from '../../../src/db/work/status-queries.ts';
import { nextRecheck } from '../../../src/domain/payments/late-checks.ts';
import { PAYMENT_KINDS } from '../../../src/domain/payments/payment.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { makeCollection, tamper, TEST_CLOCKS, whileLocked } from '../rows.ts';
import { findWork } from '../work-rows.ts';
import { useDatabase } from '../use-database.ts';
import { balanceOf, makeShop, queue, recordPayout, release } from './payout-rows.ts';
import { makeReversal, recordReversal } from './refund-rows.ts';

const { notFoundGraceMs: graceMs, notFoundGapMs: gapMs, notFoundSpanMs: spanMs } = TEST_CLOCKS;
// Sent so long ago that all times of these tests are in the past: ids continue from the latest time one was created for.
const LONG_AGO = { clocks: { payoutSendDeadlineMs: -graceMs - 2 * spanMs } };
const HALF_SPAN_MS = spanMs / 2;

type Recorded = { readonly state: string; readonly failureCode: string | null; readonly notFoundCount: number };

for (const kind of ['payout', 'reversal'] as const) {
  describe(`a ${kind} that the operator does not know`, () => {
    const db = useDatabase();
    const shop = useFixture(() => makeShop(db, 1_000_000n));
    let ref: SentPaymentRef;
    /** When a not_found can count first. */
    let countsAtMs: number;

    beforeEach(async () => {
      if (kind === 'payout') {
        const { id, merchantId } = await queue(db, shop, 1000n);
        await release(db, shop.approver, id, LONG_AGO);
        ref = { kind, id, merchantId };
      } else {
        const collection = await makeCollection(db, shop.merchantId, 'succeeded');
        const { id, merchantId } = await makeReversal(db, shop, collection, LONG_AGO);
        ref = { kind, id, merchantId };
      }
      const { sendDeadlineAt } = await load();
      assert.ok(sendDeadlineAt);
      countsAtMs = sendDeadlineAt.getTime() + graceMs;
      assert.equal(await markSendBegun(db, ref, new Date(sendDeadlineAt.getTime() - 1)), true);
    });

    const load = () =>
      ref.kind === 'payout' ? getPayout(db, ref.merchantId, ref.id) : getReversal(db, ref.merchantId, ref.id);

    const recheckDueAt = async () => (await findWork(db, ref.id, 'status_query'))?.dueAt ?? null;

    /** The operator says at this time after the first that can count that it does not know the payment. */
    async function notFoundAt(afterMs: number): Promise<number> {
      await addNotFound(db, ref, { queriedAt: new Date(countsAtMs + afterMs), graceMs, gapMs });
      return (await load()).notFoundCount;
    }

    function neverAccepted(afterMs: number, recordedAfterMs = afterMs): Promise<Recorded> {
      const input = { kind: 'never_accepted', queriedAtMs: countsAtMs + afterMs } as const;
      const at = new Date(countsAtMs + recordedAfterMs);
      return ref.kind === 'payout' ? recordPayout(db, ref, input, at) : recordReversal(db, ref, input, at);
    }

    /** A reversal is read and written in one transaction, which fails here, and its activity tries again. A payout never does. */
    function refusedReversal(error: unknown): null {
      assert.equal(kind, 'reversal', String(error));
      assert.match(String(error), /^Error: rev_\w+ changed while its transition was being recorded$/);
      return null;
    }

    const isFailed = async (recorded: Promise<Recorded>) => (await recorded).state === 'failed';

    it('does not fail by one such status, however late it comes', async () => {
      assert.equal(await notFoundAt(0), 1);
      assert.ok(!(await isFailed(neverAccepted(0))));
      assert.ok(!(await isFailed(neverAccepted(2 * spanMs))));
    });

    it('fails, and frees the money, by enough such statuses over enough time', async () => {
      const [, heldBefore] = await balanceOf(db, shop.merchantId);
      await notFoundAt(0);
      await notFoundAt(HALF_SPAN_MS);
      assert.ok(!(await isFailed(neverAccepted(HALF_SPAN_MS))));
      assert.equal(await notFoundAt(spanMs), 3);
      const { failureCode } = await neverAccepted(spanMs);
      assert.equal(failureCode, 'operator_unavailable');
      const [, held] = await balanceOf(db, shop.merchantId);
      assert.equal(held, heldBefore - (kind === 'payout' ? 1000n : 0n));
    });

    it('is rechecked after it failed so, at each of the ages of late checks, because it may turn out to be paid', async () => {
      for (const ms of [0, HALF_SPAN_MS, spanMs]) await notFoundAt(ms);
      await neverAccepted(spanMs);
      const failedAtMs = countsAtMs + spanMs;
      const ages: number[] = [];
      for (let due = await recheckDueAt(); due !== null; due = await recheckDueAt()) {
        ages.push(due.getTime() - failedAtMs);
        await tamper(db, `UPDATE work SET due_at = now() WHERE id = $1`, [ref.id]);
        const claimed = await claimQueries(db, 'mtn-momo', {
          limit: 100,
          kinds: PAYMENT_KINDS,
          leaseMs: 60_000,
          gapMs: 0,
        });
        const query = claimed.find(({ id }) => id === ref.id);
        const rechecked = await findRechecked(db, ref.id);
        assert.ok(query && rechecked);
        const { dueAt } = nextRecheck(rechecked, 'nothing_new', due, {
          ...TEST_CLOCKS,
          lateCheckAgesMs: [60_000, 90_000, 200_000],
        });
        await finishQueries(db, [{ query, next: dueAt && { dueAt, priority: 2 } }]);
      }
      assert.deepEqual(ages, [60_000, 90_000, 200_000]);
    });

    it('does not fail by many such statuses within a short time, of which only those with a gap between them count', async () => {
      for (let ms = 0; ms < gapMs; ms += gapMs / 4) assert.equal(await notFoundAt(ms), 1);
      assert.equal(await notFoundAt(gapMs), 2);
      assert.equal(await notFoundAt(0), 2, 'an older status does not count after a later one');
      assert.equal(await notFoundAt(2 * gapMs), 3);
      assert.ok(!(await isFailed(neverAccepted(2 * gapMs))));
    });

    it('does not count one that was queried while a send could still be on its way', async () => {
      assert.deepEqual([await notFoundAt(-1), await notFoundAt(0)], [0, 1]);
    });

    it('has its count begin again by an answer that says nothing, and older statuses no longer count', async () => {
      await notFoundAt(0);
      await notFoundAt(HALF_SPAN_MS);
      const resetAt = new Date(countsAtMs + spanMs);
      await resetNotFounds(db, ref, resetAt);
      assert.equal((await load()).notFoundCount, 0);
      assert.equal(await notFoundAt(spanMs), 0);
      assert.equal(await notFoundAt(spanMs + gapMs), 1);
      assert.ok(!(await isFailed(neverAccepted(spanMs + gapMs))));
    });

    it('does not count one that is dated ahead of the clock of the database, whatever the clock of the process says', async () => {
      await notFoundAt(0);
      const hourAheadMs = Date.now() + 3_600_000 - countsAtMs;
      assert.equal(await notFoundAt(hourAheadMs), 1);
      assert.equal(await notFoundAt(hourAheadMs + gapMs), 1);
    });

    it('has its count begin again, as of about now, by an answer that is dated ahead of the clock of the database', async () => {
      await notFoundAt(0);
      await resetNotFounds(db, ref, new Date(Date.now() + 3_600_000));
      assert.equal((await load()).notFoundCount, 0);
      const { notFoundLastAt } = await load();
      assert.ok(notFoundLastAt !== null && notFoundLastAt.getTime() < Date.now() + 120_000, 'what comes later counts');
    });

    it('does not fail once the operator accepted it, however often it then says that it does not know it', async () => {
      for (const ms of [0, HALF_SPAN_MS, spanMs]) await notFoundAt(ms);
      await markAccepted(db, ref, new Date());
      assert.equal(await notFoundAt(spanMs + gapMs), 3);
      assert.ok(!(await isFailed(neverAccepted(spanMs + gapMs))));
    });

    it('does not fail when the acceptance is recorded at the same moment', async () => {
      for (const ms of [0, HALF_SPAN_MS, spanMs]) await notFoundAt(ms);
      const accept = { sql: `UPDATE payments SET accepted_at = now() WHERE id = $1`, values: [ref.id] };
      await whileLocked(db, accept, () => neverAccepted(spanMs).catch(refusedReversal));
      assert.ok(!(await isFailed(neverAccepted(spanMs))));
    });

    it('does not fail by evidence that our own clock says is not there yet', async () => {
      for (const ms of [0, HALF_SPAN_MS, spanMs]) await notFoundAt(ms);
      assert.ok(!(await isFailed(neverAccepted(spanMs, -1))));
      assert.ok(!(await isFailed(neverAccepted(-1, spanMs))));
    });
  });
}
