// Server processes that die, or stop, in the middle of a sweep or of a check of the ledger: another one continues soon.
import assert from 'node:assert/strict';
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { reconciliationScheduleId, wholeLedgerCheckScheduleId } from '../../workflows/contract.ts';
import type { StartedCheck } from '../../activities/ledger-check-progress.ts';
import { listHousekeeping } from '../../src/db/platform/housekeeping.ts';
import { makeCollection, tamper } from '../db/rows.ts';
import { availableBalance, expireLeases, pay, untilState } from '../support/payments.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { startServerChild } from '../support/server-child.ts';
import { startSweep } from '../support/sweeps.ts';
import { eventually, ON_DEMAND, type TestEnvironment } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { inOwnEnvironment, testConcurrently } from '../support/concurrent-tests.ts';

/**
 * Generous for a slow machine, and for tries that Temporal still hands to the stopped process, each for a heartbeat timeout.
 * Without heartbeats the sweep would wait for five minutes, and the ledger check for an hour.
 */
const TAKEN_OVER_WITHIN_MS = 200_000;

type PendingActivity = { readonly type: string | null | undefined; readonly progress: unknown };

async function pendingActivity(handle: WorkflowHandle): Promise<PendingActivity | null> {
  const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
  if (!pending) return null;
  const [payload] = pending.heartbeatDetails?.payloads ?? [];
  return {
    type: pending.activityType?.name,
    progress: payload ? defaultPayloadConverter.fromPayload(payload) : undefined,
  };
}

type Interrupt = (pending: PendingActivity | null) => boolean;

type Interruption = {
  readonly idFor: typeof wholeLedgerCheckScheduleId;
  /** The child waits for a lock on it. */
  readonly table: string;
  readonly isThere: Interrupt;
  readonly meanwhile?: (testEnv: TestEnvironment) => Promise<void>;
};

const SWEEP: Interruption = {
  idFor: reconciliationScheduleId,
  table: 'ledger_transfers',
  isThere: (pending) => pending?.type === 'checkRecentPayments',
};
const WHOLE_LEDGER_CHECK: Interruption = {
  idFor: wholeLedgerCheckScheduleId,
  table: 'ledger_checkpoints',
  isThere: (pending) => (pending?.progress as StartedCheck | undefined)?.progress.part === 'account',
  // What was checked already is not checked again: only a check from the start would find this.
  meanwhile: ({ db }) => tamper(db, 'UPDATE payments SET amount_minor = amount_minor + 1'),
};

describe('housekeeping whose server', function () {
  this.timeout(400_000);
  const cases = (
    [
      ['is killed', 'SIGKILL'],
      ['stops without ending', 'SIGSTOP'],
    ] as const
  ).flatMap(([what, signal]) => [
    {
      title: `${what} during a sweep is continued by another one within the heartbeat timeout`,
      interruption: SWEEP,
      signal,
    },
    {
      title: `${what} during the whole ledger check is continued by another one where it was`,
      interruption: WHOLE_LEDGER_CHECK,
      signal,
    },
  ]);
  // All at once: they wait for the heartbeat timeout.
  testConcurrently(cases, cases.length, ({ interruption, signal }) =>
    inOwnEnvironment({ environment: ON_DEMAND }, async (testEnv) => {
      await makeCollection(testEnv.db, testEnv.merchant.id, 'succeeded');
      assert.equal(await interrupted(testEnv, interruption, signal), 'COMPLETED');
    }),
  );
});

/**
 * Runs the workflow on a server child that waits for a lock on the table, does `signal` to the child once `isThere`, and lets
 * another server go on. Returns how the workflow ends.
 */
async function interrupted(
  testEnv: TestEnvironment,
  { idFor, table, isThere, meanwhile }: Interruption,
  signal: 'SIGKILL' | 'SIGSTOP',
): Promise<string> {
  // The other server needs its ports.
  const child = await startServerChild(testEnv, { overrides: { MALIPO_ROLES: 'worker' } });
  // Its schedule runs the whole ledger check at once, and while that is open no other begins.
  await eventually('the first whole ledger check', async () =>
    (await listHousekeeping(testEnv.db)).some(({ task }) => task === 'whole_ledger_check'),
  );
  const client = await testEnv.db.pool.connect();
  try {
    // The lock lasts for as long as the test needs it.
    await client.query('SET idle_in_transaction_session_timeout = 0');
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    const handle = await startSweep(testEnv, idFor);
    await eventually('the activity to wait for the lock', async () => isThere(await pendingActivity(handle)), 60_000);
    process.kill(child.pid, signal);
    await meanwhile?.(testEnv);
    await client.query('COMMIT');
    await testEnv.startServer();
    return await eventually(
      'another server to continue',
      async () => {
        const { name } = (await handle.describe()).status;
        return name !== 'RUNNING' && name;
      },
      TAKEN_OVER_WITHIN_MS,
    );
  } finally {
    client.release(true);
    if (signal === 'SIGSTOP') process.kill(child.pid, 'SIGCONT');
    await child.kill();
  }
}

describe('rechecks whose server is killed', function () {
  this.timeout(400_000);
  const operator = useFixture(startScriptedOperator, (stub) => stub.stop());
  const testEnv = useTestEnvironment(() => ({
    startsServer: false,
    mtnMomoUrl: operator.url,
    environment: {
      MALIPO_PROMPT_WINDOW_MS: '400',
      MALIPO_RECONCILE_FOR_MS: '300',
      MALIPO_STALE_AFTER_MS: '2000',
      MALIPO_LATE_CHECK_AGES_MS: '86400000',
      MALIPO_OPERATOR_TIMEOUT_MS: '60000',
      MALIPO_NOT_FOUND_GRACE_MS: '61000',
    },
  }));

  it('are made by another one, and a payment that was paid late is recorded once', async () => {
    const first = await testEnv.startServer();
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'expired');
    await first.stop();
    const before = operator.statusQueries(payment.operatorReference);
    operator.ignoreStatusQueries(true);
    await tamper(testEnv.db, "UPDATE work SET due_at = now() WHERE kind = 'collection'");
    const child = await startServerChild(testEnv, { overrides: { MALIPO_ROLES: 'worker,dispatcher' } });
    await eventually('the recheck', () => operator.statusQueries(payment.operatorReference) > before, 60_000);
    await child.kill();
    await expireLeases(testEnv.db);
    operator.ignoreStatusQueries(false);
    operator.setStatus({ status: 'SUCCESSFUL' });
    await testEnv.startServer();
    const isPaid = async () => (await availableBalance(testEnv, payment.merchant)) === payment.amount;
    await eventually('another server to continue', isPaid, TAKEN_OVER_WITHIN_MS);
    assert.equal(transitionsOf(await untilAllReceived(testEnv, payment)).at(-1), 'expired > succeeded late');
  });
});
