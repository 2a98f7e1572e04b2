// Reads state changes as live updates of pages, in an order to which nothing is added later.
import type { MerchantId } from '../domain/ids.ts';
import type { LiveUpdate, Place } from '../domain/live-update.ts';
import { findOne, statement, type Queryable } from './platform/database.ts';
import { HORIZON } from './state-changes.ts';

const FIND_HORIZON = statement('live_update_find_horizon')`SELECT ${HORIZON}::text AS xid`;

/** Every update of a transaction below it can be read by now. */
export async function findHorizon(db: Queryable): Promise<bigint> {
  const row = await findOne<{ xid: string }>(db, FIND_HORIZON, []);
  if (!row) throw new Error('the database has no snapshot');
  return BigInt(row.xid);
}

// Bounds that name the merchant in both: with an equation the planner may walk through the changes of all merchants in their order.
const LIST = statement('live_update_list')`
  SELECT u.merchant_id, u.kind, u.object_id, u.to_state AS state, u.changed_at, u.xid::text, u.id
  FROM unnest($1::text[]) AS m (id) CROSS JOIN LATERAL (
    SELECT * FROM state_changes
    WHERE (merchant_id, xid, id) > (m.id, $2::xid8, $3::bigint) AND (merchant_id, xid) < (m.id, $4::xid8)
    ORDER BY merchant_id, xid, id LIMIT $5) AS u
  ORDER BY u.xid, u.id LIMIT $5`;

type Row = Omit<LiveUpdate, 'place'> & { readonly xid: string; readonly id: bigint };

/** The updates of these merchants after a place and below the horizon, in order, at most `limit`. */
export async function listLiveUpdates(
  db: Queryable,
  merchantIds: readonly MerchantId[],
  { after, horizon }: { readonly after: Place; readonly horizon: bigint },
  limit: number,
): Promise<LiveUpdate[]> {
  const values = [merchantIds, String(after.xid), after.id, String(horizon), limit];
  const rows = await db.run<Row>(LIST, values);
  return rows.map(({ xid, id, ...update }) => ({ ...update, place: { xid: BigInt(xid), id } }));
}
