// Idempotency keys of the greatest length: their payments go all the way, and disturb nobody else's.
import assert from 'node:assert/strict';
import { pay, untilState } from '../support/payments.ts';
import { untilPaidOnce } from '../support/payment-events.ts';
import { transfersAccepted, untilPayoutState, releasedPayout } from '../support/payouts.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const LONGEST = 255;

// What a name longer than its column costs shows on the production server alone: SQLite enforces no lengths.
describe('an idempotency key of 255 characters', () => {
  const testEnv = useTestEnvironment({
    environment: { MALIPO_PROMPT_DEADLINE_MS: '60000', MALIPO_PROMPT_WINDOW_MS: '60000' },
  });

  for (const [what, character] of [
    ['plain', 'k'],
    ['other', '~'],
  ] as const) {
    it(`of ${what} characters is good for a collection, which succeeds`, async () => {
      const payment = await pay(testEnv, '000', { idempotencyKey: character.repeat(LONGEST) });
      await untilPaidOnce(testEnv, payment, 40_000);
    });

    it(`of ${what} characters is good for a payout, which is sent once`, async () => {
      const payout = await releasedPayout(testEnv, '000', { idempotencyKey: `p${character.repeat(LONGEST - 1)}` });
      await untilPayoutState(testEnv, payout, 'succeeded', 40_000);
      assert.equal(await transfersAccepted(testEnv, payout), 1);
    });
  }

  it('keeps no payment of another merchant waiting', async () => {
    const merchant = await testEnv.addMerchant();
    const others = [];
    // Enough for every history shard of the server.
    for (let count = 0; count < 8; count++) others.push(await pay(testEnv, '000', { merchant }));
    for (const payment of others) await untilState(testEnv, payment, 'succeeded', 40_000);
  });
});
