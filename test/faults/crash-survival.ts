// Crash tests that run several at once, each in its own test environment, because they mostly wait for the dead
// server's leases.
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';

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

/** Declares a test for each case. They start before the first test, and at most `concurrency` run at the same time. */
export function testConcurrently<Case extends { readonly title: string }>(
  cases: readonly Case[],
  concurrency: number,
  run: (each: Case) => Promise<void>,
): void {
  const outcomes = new Map<Case, Promise<void>>();
  before(() => {
    const lanes = Array.from({ length: concurrency }, () => Promise.resolve());
    for (const [index, each] of cases.entries()) {
      const lane = index % concurrency;
      const outcome = lanes[lane]!.then(() => run(each));
      outcomes.set(each, outcome);
      lanes[lane] = outcome.catch(() => undefined);
    }
  });
  for (const each of cases) {
    it(each.title, () => outcomes.get(each));
  }
}
