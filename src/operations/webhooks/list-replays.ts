// Reads the replays of a merchant, each with its progress.
import { findNames } from '../../db/accounts/names.ts';
import type { Database } from '../../db/platform/database.ts';
import type { Page } from '../../db/platform/page.ts';
import { listReplays } from '../../db/webhooks/replay.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import type { MerchantId, ReplayId } from '../../domain/ids.ts';
import type { Replay } from '../../domain/webhooks/replay.ts';

export type RequestedReplay = Replay & { readonly person: KnownPerson };

/** The same replays, in their order. */
export async function withRequesters(
  db: Database,
  merchantId: MerchantId,
  replays: readonly Replay[],
): Promise<RequestedReplay[]> {
  const people = replays.map(({ requestedBy }) => requestedBy);
  const names = await findNames(db, merchantId, people, []);
  return replays.map((replay) => ({ ...replay, person: names.person(replay.requestedBy) }));
}

/** The newest replays created before `before` (null: the newest of all), at most `limit`. */
export async function listRequestedReplays(
  db: Database,
  merchantId: MerchantId,
  before: ReplayId | null,
  limit: number,
): Promise<Page<RequestedReplay>> {
  const { items, nextBefore } = await listReplays(db, merchantId, before, limit);
  return { items: await withRequesters(db, merchantId, items), nextBefore };
}
