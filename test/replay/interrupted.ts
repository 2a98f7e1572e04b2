// Scenarios in which a payment begins while nobody can send it.
import { setTimeout as sleep } from 'node:timers/promises';
import { switchFaults } from '../support/sandbox-operator.ts';
import type { TestEnvironment } from '../support/test-environment.ts';

/** The payment begins without a worker, which comes after `waitMs`. */
export async function withoutWorker<Begun>(
  testEnv: TestEnvironment,
  begin: () => Promise<Begun>,
  waitMs: number,
): Promise<Begun> {
  await testEnv.startServer({ MALIPO_ROLES: 'api' });
  const begun = await begin();
  await sleep(waitMs);
  await testEnv.startServer({ MALIPO_ROLES: 'worker,dispatcher' });
  return begun;
}

/** The operator is down until the payment has begun and `until` resolves. */
export async function withoutOperator<Begun>(
  testEnv: TestEnvironment,
  begin: () => Promise<Begun>,
  until: (begun: Begun) => Promise<unknown>,
): Promise<Begun> {
  await switchFaults(testEnv, { down: true });
  const begun = await begin();
  await until(begun);
  await switchFaults(testEnv, {});
  return begun;
}
