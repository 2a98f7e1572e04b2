// A server whose surroundings are made only after it started: it makes up for what it could not do at its start.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { prepareTemporal } from '../../src/temporal/setup.ts';
import { reconciliationScheduleId } from '../../workflows/contract.ts';
import { temporal, temporalClient } from '../support/engines.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { pay, untilState } from '../support/payments.ts';

describe('a server that was started before its Temporal namespace was made', () => {
  const namespace = `later-${randomBytes(4).toString('hex')}`;
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment({
      environment: { MALIPO_TEMPORAL_NAMESPACE: namespace, MALIPO_SWEEP_EVERY_MS: '3600000' },
    });
  });
  after(async () => {
    await testEnv.stop();
  });

  it('makes the schedule of the sweep when the namespace is there', async () => {
    await prepareTemporal({ address: (await temporal()).address, namespace });
    const { workflowService } = (await temporalClient()).connection;
    const scheduleId = reconciliationScheduleId(testEnv.config.settings.MALIPO_TASK_QUEUE_PREFIX);
    await eventually(
      'the schedule',
      () => workflowService.describeSchedule({ namespace, scheduleId }).catch(() => null),
      40_000,
    );
  });

  it('and completes payments', async () => {
    await untilState(testEnv, await pay(testEnv, '000'), 'succeeded', 40_000);
  });
});

describe('a server whose operator is younger than its merchants', () => {
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment({ startsServer: false });
    // As if the operator had been added since: no merchant was made with an account for it.
    const client = await testEnv.db.pool.connect();
    try {
      await client.query('SET session_replication_role = replica');
      await client.query("DELETE FROM ledger_accounts WHERE kind = 'operator'");
      await client.query('RESET session_replication_role');
    } finally {
      client.release();
    }
    await testEnv.startServer();
  });
  after(async () => {
    await testEnv.stop();
  });

  it('makes the operator’s accounts, so that payments can be recorded', async () => {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
    const { rows } = await testEnv.db.pool.query<{ id: string }>(
      "SELECT id FROM ledger_accounts WHERE kind = 'operator' ORDER BY id",
    );
    const currencies = ['GHS', 'RWF', 'UGX', 'XAF', 'XOF', 'ZMW'];
    assert.deepEqual(
      rows.map(({ id }) => id),
      currencies.map((currency) => `operator/mtn-momo/${currency}`),
    );
  });
});
