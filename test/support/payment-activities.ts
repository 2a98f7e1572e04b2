// The payment activities, and the queue of status queries, as a worker of ours runs them, with the parts that a test gives.
import { setTimeout as sleep } from 'node:timers/promises';
import { createPaymentActivities, type PaymentActivities, type PaymentActivityDeps } from '../../activities/payment.ts';
import { startStatusQueue } from '../../activities/status-queue.ts';
import type { Database } from '../../src/db/platform/database.ts';
import type { PaymentSnapshot } from '../../src/domain/payments/lifecycle.ts';
import type { OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import type { PaymentRef } from '../../src/domain/payments/payment.ts';
import type { CallPermit, OperatorCalls } from '../../activities/operator-calls.ts';
import { PAYMENT_KINDS } from '../../src/domain/payments/payment.ts';
import { contextOf, TEST_CLOCKS } from '../db/rows.ts';
import { testLog } from './engines.ts';

const PERMIT: CallPermit = {
  kind: 'granted',
  answered: () => Promise.resolve(),
  end: () => Promise.resolve(),
  mayCallAgain: () => Promise.resolve(true),
};

export const ALL_PERMITTED: OperatorCalls = {
  permit: () => Promise.resolve(PERMIT),
  permitQueries: (_operator, count) =>
    Promise.resolve({
      groups: [{ count, kinds: PAYMENT_KINDS, permitOf: () => PERMIT, end: () => Promise.resolve() }],
      held: [],
    }),
};

/** What activities and the queue are bound to in tests, with the parts that a test gives besides or instead. */
export function workerDeps<Parts extends object>(db: Database, parts: Parts) {
  const payments = contextOf(db);
  return { db, payments, releases: payments.releases, clocks: TEST_CLOCKS, log: testLog, ...parts };
}

type Queried = { readonly snapshot: PaymentSnapshot; readonly hasStatus: boolean };
export type TestActivities = Omit<PaymentActivities, 'sendWithOperator' | 'queryStatusWithOperator'> & {
  sendWithOperator(ref: PaymentRef): ReturnType<PaymentActivities['sendWithOperator']>;
  queryStatusWithOperator(ref: PaymentRef): Promise<Queried>;
};

/** Every call is permitted. A query that is made too soon after the last one is made again after its gap, as a workflow does. */
export function testActivities(deps: object, operator: OperatorId = 'mtn-momo'): TestActivities {
  const activities = createPaymentActivities({ calls: ALL_PERMITTED, ...deps } as unknown as PaymentActivityDeps);
  const atOperator = (ref: PaymentRef) => ({ ...ref, operator }) as const;
  return {
    ...activities,
    sendWithOperator: (ref) => activities.sendWithOperator(atOperator(ref)),
    async queryStatusWithOperator(ref) {
      for (;;) {
        const queried = await activities.queryStatusWithOperator(atOperator(ref));
        if (queried.kind === 'queried') return queried;
        await sleep(queried.waitMs);
      }
    },
  };
}

const IS_DUE = `SELECT FROM work WHERE task = 'status_query' AND coalesce(claimed_until, due_at) <= now() LIMIT 1`;

/** Makes the status queries that are due, until none is. */
export async function queryWhatIsDue(db: Database, deps: object): Promise<void> {
  while ((await db.pool.query(IS_DUE)).rowCount === 1) {
    const given = { db, queues: db, calls: ALL_PERMITTED, maxInFlight: () => 10, ...deps };
    await startStatusQueue(given as unknown as Parameters<typeof startStatusQueue>[0]).stop();
  }
}
