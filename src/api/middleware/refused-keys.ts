// Limits how many refused API keys an address may send, over all processes.
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { countRefusedKey } from '../../operations/accounts/authenticate-api-key.ts';
import { refusedKeyLimit } from '../../security/attempt-limit.ts';
import type { Database } from '../../db/platform/database.ts';
import { tooManyRequests } from './rate-limit.ts';

/**
 * Throws `rate_limited` in place of the refusal if the address has sent too many. A valid key from that address still
 * works, because many callers may share it. Null: addresses are not limited.
 */
export type RefusedKeys = ((address: string | null) => Promise<void>) | null;

export function createRefusedKeys(db: Database, maxPerAddress: number): RefusedKeys {
  if (maxPerAddress === 0) return null;
  // Addresses over their limit, so that a flood causes no further work in the database.
  const blocked = new RateLimiterMemory({ points: 1, duration: 1 });
  return async (address) => {
    const limit = refusedKeyLimit(address, maxPerAddress);
    const block = await blocked.get(limit.subject);
    if (block !== null && block.remainingPoints <= 0) throw tooManyKeys(block.msBeforeNext);
    const at = new Date();
    const windowEndsAt = await countRefusedKey(db, limit, at);
    if (windowEndsAt === null) return;
    const waitMs = Math.max(1000, windowEndsAt.getTime() - at.getTime());
    await blocked.block(limit.subject, waitMs / 1000);
    throw tooManyKeys(waitMs);
  };
}

function tooManyKeys(waitMs: number) {
  return tooManyRequests('Too many API keys from this address were refused. Wait, and check the key.', waitMs);
}
