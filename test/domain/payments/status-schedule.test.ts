// When the operator is asked next about a pending payment: by its schedule, and at each of its deadlines.
import assert from 'node:assert/strict';
import type { Payment } from '../../../src/domain/payments/payment.ts';
import { nextQueryDue } from '../../../src/domain/payments/status-schedule.ts';
import { QUERY_PRIORITY } from '../../../src/domain/work.ts';
import { AT, collectionWith } from './collections.ts';
import { payoutWith } from './payouts.ts';
import { reversalWith } from './reversals.ts';

const CLOCKS = {
  pollScheduleMs: [15_000, 30_000],
  reconcileScheduleMs: [60_000, 3_600_000],
  minimumQueryGapMs: 1000,
  reconcileForMs: 86_400_000,
  notFoundGraceMs: 10_000,
  notFoundSpanMs: 7_200_000,
  payoutOverdueMs: 4000,
};
const inMs = (ms: number) => new Date(AT.getTime() + ms);

/** After how many milliseconds the payment is queried, and why; null: never by schedule. */
function dueAfter(payment: Payment, queries: number, atMs = 0): readonly [number, string] | null {
  const due = nextQueryDue(payment, queries, inMs(atMs), CLOCKS);
  if (due === null) return null;
  const why = Object.entries(QUERY_PRIORITY).find(([, priority]) => priority === due.priority)?.[0] ?? '';
  return [due.dueAt.getTime() - inMs(atMs).getTime(), why];
}

describe('the next status query of a payment', () => {
  const prompted = collectionWith({ state: 'prompted', promptExpiresAt: inMs(100_000) });

  it('follows the schedule of its state, whose last step repeats', () => {
    assert.deepEqual(
      [0, 1, 2, 9].map((queries) => dueAfter(prompted, queries)),
      [
        [15_000, 'scheduled'],
        [30_000, 'scheduled'],
        [30_000, 'scheduled'],
        [30_000, 'scheduled'],
      ],
    );
  });

  it('comes at the end of the prompt, although the schedule would have it later', () => {
    assert.deepEqual(dueAfter(prompted, 5, 80_000), [20_000, 'deadline']);
  });

  it('comes no sooner than the minimum gap after the last one, and then by schedule again', () => {
    assert.deepEqual(dueAfter(prompted, 5, 99_800), [1000, 'deadline']);
    assert.deepEqual(dueAfter(prompted, 5, 100_000), [30_000, 'scheduled']);
  });

  it('comes when an undecided collection may end', () => {
    const reconciling = collectionWith({ state: 'reconciling', promptExpiresAt: inMs(0) });
    assert.deepEqual(dueAfter(reconciling, 5, 86_400_000 - 60_000), [60_000, 'deadline']);
  });

  it('comes when the operator’s not knowing a prompt may end it', () => {
    const inDoubt = collectionWith({ state: 'reconciling', promptExpiresAt: null, promptDeadlineAt: inMs(5000) });
    assert.deepEqual(dueAfter(inDoubt, 0), [15_000, 'deadline']);
  });

  it('comes at the send deadline of a payout and of a refund, and when their not being known may end them', () => {
    for (const make of [payoutWith, reversalWith]) {
      const sent = { sendBegunAt: AT, sendDeadlineAt: inMs(10_000) };
      assert.deepEqual(dueAfter(make({ ...sent, state: 'released' }), 0), [10_000, 'deadline']);
      assert.deepEqual(dueAfter(make({ ...sent, state: 'reconciling' }), 0, 10_000), [10_000, 'deadline']);
      const unknown = make({ ...sent, state: 'reconciling', notFoundSince: inMs(0) });
      assert.deepEqual(dueAfter(unknown, 5, 7_000_000), [200_000, 'deadline']);
    }
  });

  it('comes soon after the operator took a payout or refund, which is overdue then, however long it might have been sent', () => {
    for (const make of [payoutWith, reversalWith]) {
      const accepted = { state: 'released', sendBegunAt: AT, acceptedAt: inMs(1000) } as const;
      assert.deepEqual(dueAfter(make({ ...accepted, sendDeadlineAt: inMs(86_400_000) }), 0), [5000, 'deadline']);
      assert.deepEqual(dueAfter(make({ ...accepted, sendDeadlineAt: inMs(3000) }), 0), [3000, 'deadline']);
    }
  });

  it('is none while the operator does not have it yet', () => {
    const unsent = [
      collectionWith(),
      payoutWith({ state: 'queued' }),
      payoutWith({ state: 'released', sendBegunAt: null }),
    ];
    assert.deepEqual(
      unsent.map((payment) => dueAfter(payment, 0)),
      [null, null, null],
    );
  });
});
