// Test environments for the cases of a `describe`, whose ledger is checked before they stop.
import { assertLedgerIsSound } from './payments.ts';
import { startTestEnvironment, type TestEnvironment, type TestEnvironmentOptions } from './test-environment.ts';
import { useFixture, useFixturePerCase } from './use-fixture.ts';

/**
 * One test environment for all cases of the surrounding `describe`. Fails when its ledger is not sound at the end.
 * Options that need an earlier fixture are given as a function.
 */
export function useTestEnvironment(options?: TestEnvironmentOptions | (() => TestEnvironmentOptions)): TestEnvironment {
  return useFixture(() => startTestEnvironment(typeof options === 'function' ? options() : options), checkAndStop);
}

/** A new test environment for each case of the surrounding `describe`. Fails when its ledger is not sound at the end. */
export function useTestEnvironmentPerCase(options?: TestEnvironmentOptions): TestEnvironment {
  return useFixturePerCase(() => startTestEnvironment(options), checkAndStop);
}

async function checkAndStop(testEnv: TestEnvironment): Promise<void> {
  try {
    await assertLedgerIsSound(testEnv.db);
  } finally {
    await testEnv.stop();
  }
}
