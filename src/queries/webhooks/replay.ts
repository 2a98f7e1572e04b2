// Reads the replays of a merchant, each with its progress.
import { findNames } from '../../db/accounts/named-people.ts';
import type { Database } from '../../db/platform/database.ts';
import { readPage, type Page } from '../../db/platform/page.ts';
import { findReplay, listReplays as listRows } from '../../db/webhooks/replay.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import { isId, type MerchantId, type ReplayId } from '../../domain/ids.ts';
import { replayNotFound, type Replay } from '../../domain/webhooks/replay.ts';

/** A replay and who asked for it. */
export type NamedReplay = Replay & { readonly person: KnownPerson };

/** The same replays, in their order. */
export async function withRequesters(
  db: Database,
  merchantId: MerchantId,
  replays: readonly Replay[],
): Promise<NamedReplay[]> {
  const people = replays.map(({ requestedBy }) => requestedBy);
  const names = await findNames(db, merchantId, people, []);
  return replays.map((replay) => ({ ...replay, person: names.person(replay.requestedBy) }));
}

/** Throws `replay_not_found`. */
export async function getReplay(db: Database, merchantId: MerchantId, id: string): Promise<Replay> {
  const replay = isId('rpl', id) ? await findReplay(db, merchantId, id) : null;
  if (!replay) throw replayNotFound();
  return replay;
}

/** The newest replays created before `before` (null: the newest of all), at most `limit`. */
export async function listReplays(
  db: Database,
  merchantId: MerchantId,
  before: ReplayId | null,
  limit: number,
): Promise<Page<NamedReplay>> {
  const { items, nextBefore } = await readPage(limit, (count) => listRows(db, merchantId, before, count));
  return { items: await withRequesters(db, merchantId, items), nextBefore };
}
