// Keeps an idempotency key in flight, as if another call used it, for as long as a test needs.
import type { Database } from '../../../src/db/platform/database.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';

export async function holdIdempotencyKey(
  db: Database,
  merchantId: MerchantId,
  key: string,
): Promise<{ release(): Promise<void> }> {
  const client = await db.pool.connect();
  const lock = "SELECT pg_advisory_lock(hashtextextended($1 || ' ' || $2, 0))";
  await client.query(lock, [merchantId, key]);
  return {
    async release() {
      await client.query('SELECT pg_advisory_unlock_all()');
      client.release();
    },
  };
}
