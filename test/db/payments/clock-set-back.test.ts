// A clock that is ahead for a moment and then set right: what is created afterwards has its true times and deadlines.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createCollection } from '../../../src/operations/payments/create-collection.ts';
import { contextOf, makeMerchant, oneRow, TEST_CLOCKS } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { makeShop, requestPayout } from './payout-rows.ts';
import { REQUEST } from '../../domain/payments/collections.ts';

const HOUR_MS = 3_600_000;
// The times go into the ids by the millisecond, and an id may be a second ahead.
const TOLERANCE_MS = 1000;

describe('after a clock was an hour ahead', () => {
  const db = useDatabase();
  const aheadOf = (time: Date, at: Date) => time.getTime() - at.getTime();
  const isNear = (ms: number, wantedMs: number) => ms >= wantedMs && ms <= wantedMs + TOLERANCE_MS;

  it('a collection is created now, and its prompt deadline is not an hour late', async () => {
    const merchantId = await makeMerchant(db);
    const createAt = async (at: Date) => {
      const created = await createCollection(contextOf(db), {
        merchantId,
        merchantCurrency: 'UGX',
        idempotencyKey: randomUUID(),
        request: REQUEST,
        requestId: 'req_test',
        apiKeyId: null,
        refusal: null,
        at,
      });
      assert.ok(created.kind === 'accepted');
      return oneRow<{ created_at: Date; send_deadline_at: Date }>(
        db,
        'SELECT created_at, send_deadline_at FROM payments WHERE id = $1',
        [created.payments[0].id],
      );
    };
    const now = new Date();
    await createAt(new Date(now.getTime() + HOUR_MS));
    const row = await createAt(now);
    assert.ok(isNear(aheadOf(row.created_at, now), 0), row.created_at.toISOString());
    assert.ok(
      isNear(aheadOf(row.send_deadline_at, now), TEST_CLOCKS.promptDeadlineMs),
      row.send_deadline_at.toISOString(),
    );
  });

  it('a payout is created now, and does not wait an hour longer for its approval', async () => {
    const shop = await makeShop(db, 100_000n);
    const now = new Date();
    await requestPayout(db, shop, 1000n, { at: new Date(now.getTime() + HOUR_MS) });
    const created = await requestPayout(db, shop, 1000n, { at: now });
    assert.ok(created.kind === 'accepted');
    const { createdAt, expiresAt } = created.payments[0];
    assert.ok(isNear(aheadOf(createdAt, now), 0), createdAt.toISOString());
    assert.ok(isNear(aheadOf(expiresAt, now), TEST_CLOCKS.payoutExpiryMs), expiresAt.toISOString());
  });
});
