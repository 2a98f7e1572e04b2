// Reads one replay of many deliveries, with how far it came.
import type { Database } from '../../db/database.ts';
import { findReplay } from '../../db/webhooks/replay.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import { replayNotFound, type Replay } from '../../domain/webhooks/replay.ts';

/** Throws `replay_not_found`. */
export async function getReplay(db: Database, merchantId: MerchantId, id: string): Promise<Replay> {
  const replay = isId('rpl', id) ? await findReplay(db, merchantId, id) : null;
  if (!replay) throw replayNotFound();
  return replay;
}
