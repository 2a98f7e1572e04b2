// Collections that fail by the sandbox’s table, at whatever operator.
import assert from 'node:assert/strict';
import { availableBalance, untilState, type Payment } from '../support/payments.ts';
import type { TestEnvironment } from '../support/test-environment.ts';

/** A case for each row: its collection fails for this reason, and no money is booked. */
export function itFailsAtRows(
  testEnv: TestEnvironment,
  collect: (row: string) => Promise<Payment>,
  rows: Readonly<Record<string, string>>,
): void {
  for (const [row, failure] of Object.entries(rows)) {
    it(`fails as ${failure} at row ${row} of the sandbox’s table`, async () => {
      const payment = await collect(row);
      const shown = await untilState(testEnv, payment, 'failed');
      assert.equal(shown.failure?.code, failure);
      assert.equal(await availableBalance(testEnv, payment.merchant), 0);
    });
  }
}
