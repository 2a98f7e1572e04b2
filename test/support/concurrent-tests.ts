// Tests that run several at once, each in its own test environment, because they mostly wait: for the leases of a dead server, or
// for a deadline.
import { assertLedgerIsSound } from './payments.ts';
import { startScriptedOperator, type ScriptedOperator } from './scripted-operator.ts';
import { startTestEnvironment, type TestEnvironment } from './test-environment.ts';

type Options = NonNullable<Parameters<typeof startTestEnvironment>[0]>;

/** Runs `test` in its own environment without a server, which is stopped in any case. */
export async function inOwnEnvironment(
  options: Options,
  test: (testEnv: TestEnvironment) => Promise<void>,
): Promise<void> {
  const testEnv = await startTestEnvironment({ startsServer: false, ...options });
  try {
    await test(testEnv);
  } finally {
    await testEnv.stop();
  }
}

/** Runs `check` in an environment and with an operator of its own; the ledger must be sound at the end. */
export async function withOwnOperator(
  settings: Readonly<Record<string, string>>,
  check: (testEnv: TestEnvironment, operator: ScriptedOperator) => Promise<void>,
): Promise<void> {
  const operator = await startScriptedOperator();
  const options = { startsServer: true, mtnMomoUrl: operator.url, environment: settings };
  await inOwnEnvironment(options, async (testEnv) => {
    await check(testEnv, operator);
    await assertLedgerIsSound(testEnv.db);
  }).finally(() => operator.stop());
}

/**
 * Returns what declares a test. All tests that it declares start before the first one of the surrounding `describe`, in their
 * order, and at most `concurrency` run at the same time.
 */
export function useConcurrentTests(concurrency: number): (title: string, run: () => Promise<void>) => void {
  const starts: (() => void)[] = [];
  const lanes = Array.from({ length: concurrency }, () => Promise.resolve());
  before(() => {
    for (const start of starts) start();
  });
  return (title, run) => {
    const lane = starts.length % concurrency;
    let outcome: Promise<void> | undefined;
    starts.push(() => {
      outcome = lanes[lane]!.then(run);
      lanes[lane] = outcome.catch(() => undefined);
    });
    it(title, () => outcome);
  };
}

/** Declares a test for each case, as `useConcurrentTests` does. */
export function testConcurrently<Case extends { readonly title: string }>(
  cases: readonly Case[],
  concurrency: number,
  run: (each: Case) => Promise<void>,
): void {
  const test = useConcurrentTests(concurrency);
  for (const each of cases) test(each.title, () => run(each));
}
