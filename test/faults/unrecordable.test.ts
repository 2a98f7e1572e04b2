// Payments whose change the database keeps refusing: they wait without blocking other payments.
import { setTimeout as sleep } from 'node:timers/promises';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { assertLedgerIsSound, pay, untilState, type Payment } from '../support/payments.ts';

/** More than a worker has slots for workflow tasks. */
const MANY = 45;

describe('payments that cannot be recorded', () => {
  const testEnv = useTestEnvironment({
    environment: { MALIPO_PROMPT_WINDOW_MS: '60000', MALIPO_WORKFLOW_TASK_TIMEOUT_MS: '10000' },
  });
  let stuck: Payment[];
  before(async () => {
    await testEnv.db.pool.query(`
      CREATE FUNCTION refuse_some() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
      CREATE TRIGGER refuse_some BEFORE UPDATE ON payments FOR EACH ROW
        WHEN (NEW.phone LIKE '%777' AND NEW.state <> OLD.state) EXECUTE FUNCTION refuse_some()`);
    stuck = await Promise.all(Array.from({ length: MANY }, () => pay(testEnv, '777')));
  });

  it('do not block other payments, however many they are', async () => {
    // Long enough for a try of each of them.
    await sleep(3000);
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
  });

  it('are recorded when the database accepts them again', async () => {
    await testEnv.db.pool.query('DROP TRIGGER refuse_some ON payments');
    for (const payment of stuck) await untilState(testEnv, payment, 'succeeded', 90_000);
    await assertLedgerIsSound(testEnv.db);
  });
});
