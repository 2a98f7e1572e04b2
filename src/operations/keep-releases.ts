// Keeps the answer to a release of many payouts under its idempotency key.
import type { Database } from '../db/database.ts';
import { claimIdempotencyKey, keepAnswer, type KeyedRequest, type StoredAnswer } from '../db/idempotency-key.ts';
import { requestFingerprint } from '../domain/idempotency.ts';
import type { ActedBy } from '../domain/member.ts';

export type ManyReleases = {
  readonly by: ActedBy;
  readonly ids: readonly string[];
  readonly key: string;
  readonly keptForMs: number;
  readonly at: Date;
};

/** The answer that was kept for this request, or null. Throws what `claimIdempotencyKey` throws. */
export async function findKeptReleases(db: Database, releases: ManyReleases): Promise<StoredAnswer | null> {
  return db.withTransaction((tx) => claimIdempotencyKey(tx, keyed(releases)));
}

/**
 * Keeps what became of each. Two calls with one key at once release no payout twice, since each release is a
 * compare-and-set of its own; the second of them is answered with what the first kept.
 */
export async function keepReleases(db: Database, releases: ManyReleases, body: string): Promise<StoredAnswer> {
  return db.withTransaction(async (tx) => {
    const kept = await claimIdempotencyKey(tx, keyed(releases));
    if (kept) return kept;
    const answer = { status: 200, body };
    await keepAnswer(tx, keyed(releases), answer);
    return answer;
  });
}

function keyed({ by, ids, key, keptForMs, at }: ManyReleases): KeyedRequest {
  const { merchantId, userId } = by.person;
  const fingerprint = requestFingerprint('POST', '/v1/console/payouts/release', { userId, ids });
  return { merchantId, key, fingerprint, at, keptForMs };
}
