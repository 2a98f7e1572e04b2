// The sweep: it removes what has expired, and fails when the ledger does not add up.
import assert from 'node:assert/strict';
import {
  ledgerCheckScheduleId,
  reconciliationScheduleId,
  wholeLedgerCheckScheduleId,
} from '../../workflows/contract.ts';
import { listHousekeeping } from '../../src/db/platform/housekeeping.ts';
import { checkLedger } from '../../src/operations/payments/check-ledger.ts';
import { tamper, expireIdempotencyKey } from '../db/rows.ts';
import { eventually, ON_DEMAND, startTestEnvironment } from '../support/test-environment.ts';
import { pay, untilState } from '../support/payments.ts';
import { scheduleOf, sweep } from '../support/sweeps.ts';
import { useFixture } from '../support/use-fixture.ts';
import { valuesOf } from '../support/values-of.ts';

describe('the sweep', () => {
  const start = () =>
    startTestEnvironment({
      environment: {
        // The operator's callbacks arrive nowhere, so that only status queries find an outcome.
        MALIPO_PUBLIC_URL: 'http://127.0.0.1:1',
        ...ON_DEMAND,
        MALIPO_STALE_AFTER_MS: '200',
        MALIPO_LATE_CHECK_AGES_MS: '200,400,800,1600,3200,6400,12800,25600,51200',
        MALIPO_PROMPT_WINDOW_MS: '800',
        MALIPO_RECONCILE_FOR_MS: '300',
        MALIPO_RECONCILE_SCHEDULE_MS: '100',
      },
      sandboxTimes: { undecidedMs: 2000 },
    });
  // Its ledger is broken at the end.
  const testEnv = useFixture(start, (env) => env.stop());
  before(async () => {
    for (const idFor of [reconciliationScheduleId, ledgerCheckScheduleId, wholeLedgerCheckScheduleId]) {
      await eventually('the schedule', async () => (await scheduleOf(testEnv, idFor)).describe().catch(() => null));
    }
  });

  it('has a schedule that never runs two sweeps at once, and whose interval a new start updates', async () => {
    const schedule = await scheduleOf(testEnv);
    const { spec, policies } = await schedule.describe();
    assert.deepEqual(valuesOf(spec.intervals ?? [], 'every'), [3_600_000]);
    assert.equal(policies.overlap, 'SKIP');
    const other = await testEnv.startServer({ MALIPO_ROLES: 'worker', MALIPO_SWEEP_EVERY_MS: '1800000' });
    await eventually('the new interval', async () => {
      const { intervals } = (await schedule.describe()).spec;
      return intervals?.[0]?.every === 1_800_000;
    });
    await other.stop();
  });

  it('has a check of the whole ledger beside it, which a new deployment runs at once', async () => {
    await eventually('the first check', async () =>
      (await listHousekeeping(testEnv.db)).some(({ task }) => task === 'whole_ledger_check'),
    );
  });

  it('removes idempotency keys that are older than 30 days, and no others', async () => {
    const [old, young] = [await pay(testEnv, '000'), await pay(testEnv, '000')];
    await expireIdempotencyKey(testEnv.db, old.idempotencyKey);
    await sweep(testEnv);
    const { rows } = await testEnv.db.pool.query<{ key: string }>(
      'SELECT key FROM idempotency_keys WHERE key = ANY($1)',
      [[old.idempotencyKey, young.idempotencyKey]],
    );
    assert.deepEqual(rows, [{ key: young.idempotencyKey }]);
  });

  it('completes while the ledger adds up, and so do the checks of the ledger, and all are on record', async () => {
    const beganAt = new Date();
    assert.equal((await sweep(testEnv)).status, 'COMPLETED');
    assert.equal((await sweep(testEnv, ledgerCheckScheduleId)).status, 'COMPLETED');
    assert.equal((await sweep(testEnv, wholeLedgerCheckScheduleId)).status, 'COMPLETED');
    const done = await listHousekeeping(testEnv.db);
    for (const task of ['purge', 'recent_payments', 'ledger_check', 'whole_ledger_check']) {
      const { doneAsOf, faults } = done.find((each) => each.task === task) ?? assert.fail(task);
      assert.ok(doneAsOf >= beganAt, task);
      assert.equal(faults, 0, task);
    }
  });

  async function assertNames(result: () => Promise<unknown>, subject: string): Promise<void> {
    await assert.rejects(result, (error: Error) => {
      const { cause } = error as { cause?: { type?: string; details?: unknown[] } };
      assert.equal(cause?.type, 'LedgerFault');
      assert.ok(JSON.stringify(cause.details).includes(subject));
      return true;
    });
  }

  it('fails and names the payment when a recent one is marked as paid without a transfer', async () => {
    const payment = await pay(testEnv, '001');
    await untilState(testEnv, payment, 'failed');
    const mark = (state: string, receipt: string | null, code: string | null) =>
      tamper(testEnv.db, 'UPDATE payments SET state = $2, operator_receipt = $3, failure_code = $4 WHERE id = $1', [
        payment.id,
        state,
        receipt,
        code,
      ]);
    await mark('succeeded', '42', null);
    const { status, result } = await sweep(testEnv);
    assert.equal(status, 'FAILED');
    await assertNames(result, payment.id);
    await mark('failed', null, 'payer_cancelled');
    assert.equal((await sweep(testEnv)).status, 'COMPLETED');
  });

  // The last test: it leaves the ledger broken.
  it('does not check balances, and leaves them to the checks of the ledger, which fail and name the account', async () => {
    const account = `${testEnv.merchant.id}/available`;
    await tamper(testEnv.db, 'UPDATE ledger_accounts SET balance_minor = balance_minor + 1 WHERE id = $1', [account]);
    assert.equal((await sweep(testEnv)).status, 'COMPLETED');
    for (const idFor of [ledgerCheckScheduleId, wholeLedgerCheckScheduleId]) {
      const { status, result } = await sweep(testEnv, idFor);
      assert.equal(status, 'FAILED');
      await assertNames(result, account);
    }
    assert.equal((await checkLedger(testEnv.db)).length, 1);
    const done = await listHousekeeping(testEnv.db);
    for (const task of ['ledger_check', 'whole_ledger_check'])
      assert.equal(done.find((each) => each.task === task)?.faults, 1, task);
  });
});
