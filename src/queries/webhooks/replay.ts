// Reads the replays of a merchant, each with its progress.
import type { Database } from '../../db/database.ts';
import { readPage, type Page } from '../../db/page.ts';
import { findReplay, listReplays as listRows } from '../../db/webhooks/replay.ts';
import { isId, type MerchantId, type ReplayId } from '../../domain/ids.ts';
import { replayNotFound, type Replay } from '../../domain/webhooks/replay.ts';

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
): Promise<Page<Replay>> {
  return readPage(limit, (count) => listRows(db, merchantId, before, count));
}
