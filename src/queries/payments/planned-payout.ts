// Finds what became of payouts that a list of them names by idempotency key, before anybody makes them.
import type { Database } from '../../db/database.ts';
import { listUsedKeys } from '../../db/payments/idempotency-key.ts';
import { listPayoutsOfKeys, type KeyedPayout } from '../../db/payments/payout.ts';
import type { MerchantId } from '../../domain/ids.ts';

export type KeysOutcome = {
  /** The newest payout that was created with one of the keys; null when none was. */
  readonly payout: KeyedPayout | null;
  /** The first of the keys that can still create a payout; null when each has a stored response, or was used for a payout. */
  readonly unusedKey: string | null;
};

/** For each list of keys, in its order. A key may become used the moment after: its creation decides, not this. */
export async function findKeysOutcomes(
  db: Database,
  merchantId: MerchantId,
  lists: readonly (readonly string[])[],
  at: Date,
): Promise<KeysOutcome[]> {
  const keys = [...new Set(lists.flat())];
  const used = await listUsedKeys(db, merchantId, keys, at);
  const payouts = new Map(
    (await listPayoutsOfKeys(db, merchantId, keys)).map((payout) => [payout.idempotencyKey, payout] as const),
  );
  return lists.map((list) => {
    const made = list.flatMap((key) => payouts.get(key) ?? []);
    const [newest = null] = made.sort((a, b) => (a.id < b.id ? 1 : -1));
    return { payout: newest, unusedKey: list.find((key) => !used.has(key) && !payouts.has(key)) ?? null };
  });
}
