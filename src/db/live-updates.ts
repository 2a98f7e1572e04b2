// Reads live updates in an order to which nothing is added later, and removes old ones.
import type { MerchantId } from '../domain/ids.ts';
import type { LiveUpdate, LiveUpdateKind, Place } from '../domain/live-update.ts';
import { boundedDelete } from './platform/bounded-delete.ts';
import { findOne, statement, type Queryable } from './platform/database.ts';

const HORIZON = statement('live_update_horizon')`SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xid`;

/** The lowest transaction that is still under way, of all databases of the server: every update below it can be read by now. */
export async function findHorizon(db: Queryable): Promise<bigint> {
  const row = await findOne<{ xid: string }>(db, HORIZON, []);
  if (!row) throw new Error('the database has no snapshot');
  return BigInt(row.xid);
}

const LIST = statement('live_update_list')`
  SELECT u.merchant_id, u.kind, u.object_id, u.state, u.changed_at, u.xid::text, u.id
  FROM unnest($1::text[]) AS m (id) CROSS JOIN LATERAL (
    SELECT * FROM live_updates
    WHERE merchant_id = m.id AND (xid, id) > ($2::xid8, $3::bigint) AND xid < $4::xid8 ORDER BY xid, id LIMIT $5) AS u
  ORDER BY u.xid, u.id LIMIT $5`;

type Row = {
  readonly merchantId: MerchantId;
  readonly kind: LiveUpdateKind;
  readonly objectId: string;
  readonly state: string;
  readonly changedAt: Date;
  readonly xid: string;
  readonly id: bigint;
};

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

export const deleteLiveUpdates = boundedDelete('live_update_delete_old', {
  table: 'live_updates',
  key: 'id',
  isOver: 'changed_at < $1',
});
