// A server that starts before its Temporal namespace or its operator's accounts exist: it catches up later.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { prepareTemporal } from '../../src/temporal/setup.ts';
import { reconciliationScheduleId } from '../../workflows/contract.ts';
import { tamper } from '../db/rows.ts';
import { temporal, temporalClient } from '../support/engines.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { pay, untilState } from '../support/payments.ts';
import { valuesOf } from '../support/values-of.ts';

describe('a server that started before its Temporal namespace was created', () => {
  const namespace = `later-${randomBytes(4).toString('hex')}`;
  const testEnv = useTestEnvironment({
    environment: { MALIPO_TEMPORAL_NAMESPACE: namespace, MALIPO_SWEEP_EVERY_MS: '3600000' },
  });

  it('creates the schedule of the sweep when the namespace exists', async () => {
    await prepareTemporal({ address: (await temporal()).address, namespace });
    const { workflowService } = (await temporalClient()).connection;
    const scheduleId = reconciliationScheduleId(testEnv.config.settings.MALIPO_TASK_QUEUE_PREFIX);
    await eventually(
      'the schedule',
      () => workflowService.describeSchedule({ namespace, scheduleId }).catch(() => null),
      40_000,
    );
  });

  it('completes payments', async () => {
    await untilState(testEnv, await pay(testEnv, '000'), 'succeeded', 40_000);
  });
});

describe('a server with a new operator and existing merchants', () => {
  const testEnv = useTestEnvironment({ startsServer: false });
  before(async () => {
    // As if the operator was added later: no account for it exists yet.
    await tamper(testEnv.db, "DELETE FROM ledger_accounts WHERE kind = 'operator'");
    await testEnv.startServer();
  });

  it('creates the operator’s accounts, so that payments can be recorded', async () => {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
    const { rows } = await testEnv.db.pool.query<{ id: string }>(
      "SELECT id FROM ledger_accounts WHERE kind = 'operator' ORDER BY id",
    );
    const currencies = {
      'airtel-money': ['KES', 'RWF', 'TZS', 'UGX', 'ZMW'],
      daraja: ['KES'],
      'mtn-momo': ['GHS', 'RWF', 'UGX', 'XAF', 'XOF', 'ZMW'],
    };
    const accounts = Object.entries(currencies).flatMap(([operator, all]) =>
      all.map((currency) => `operator/${operator}/${currency}`),
    );
    assert.deepEqual(valuesOf(rows, 'id'), accounts);
  });
});
