// Tries of activities that record an outcome after the workflow may have stopped waiting for them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import { testActivities, workerDeps } from '../../support/payment-activities.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { makeCollection, makeMerchant, record } from '../rows.ts';
import { useDatabase } from '../use-database.ts';

const TIMEOUT_MS = 2000;

describe('a try that records the outcome of a payment', () => {
  const db = useDatabase();
  const merchant = useFixture(() => makeMerchant(db).then((id) => ({ id })));

  async function prompted(): Promise<PaymentRef<'collection'>> {
    const { id } = await makeCollection(db, merchant.id);
    const ref = { kind: 'collection', id, merchantId: merchant.id } as const;
    await record(db, ref, { kind: 'prompt_accepted' });
    return ref;
  }

  /** Queries the status as an activity that began so long ago. */
  function queryAfter(ageMs: number, ref: PaymentRef<'collection'>) {
    const receipt = `R-${randomUUID()}`;
    const status = { kind: 'succeeded', receipt, paid: { amount: '5000', currency: 'UGX' } };
    const operators = { 'mtn-momo': { getCollectionStatus: () => Promise.resolve(status) } };
    const activities = testActivities(workerDeps(db, { operators }));
    const info = {
      isLocal: true,
      startToCloseTimeoutMs: TIMEOUT_MS,
      currentAttemptScheduledTimestampMs: Date.now() - ageMs,
    };
    return asyncLocalStorage.run({ info } as unknown as Context, () => activities.queryStatusWithOperator(ref));
  }

  async function workflowWork({ id }: PaymentRef) {
    const sql = "SELECT is_started FROM work WHERE task = 'workflow' AND id = $1";
    return (await db.pool.query<{ is_started: boolean }>(sql, [id])).rows;
  }

  it('leaves nothing to do while the workflow waits for it', async () => {
    const ref = await prompted();
    assert.equal((await queryAfter(0, ref)).snapshot.state, 'succeeded');
    assert.deepEqual(await workflowWork(ref), []);
  });

  for (const ageMs of [TIMEOUT_MS / 2 + 100, 2 * TIMEOUT_MS]) {
    it(`has the workflow signalled ${ageMs} ms after its start, at a timeout of ${TIMEOUT_MS} ms`, async () => {
      const ref = await prompted();
      assert.equal((await queryAfter(ageMs, ref)).snapshot.state, 'succeeded');
      assert.deepEqual(await workflowWork(ref), [{ is_started: false }]);
    });
  }
});
