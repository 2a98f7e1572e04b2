// Rows of webhook endpoints.
import type { DisabledReason } from '../domain/endpoint.ts';
import type { EventType } from '../domain/event.ts';
import type { EndpointId, MerchantId } from '../domain/ids.ts';
import { statement, type Queryable, type Tx } from './database.ts';

const INSERT = statement(
  'endpoint_insert',
  `INSERT INTO endpoints (id, merchant_id, url, description, event_types, state, secret_sealed, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, 'enabled', $6, $7, $7)`,
);

export type NewEndpoint = {
  readonly id: EndpointId;
  readonly merchantId: MerchantId;
  readonly url: string;
  readonly description: string | null;
  /** Null: every type. */
  readonly eventTypes: readonly EventType[] | null;
  readonly secretSealed: string;
  readonly createdAt: Date;
};

export async function insertEndpoint(tx: Tx, endpoint: NewEndpoint): Promise<void> {
  await tx.run(INSERT, [
    endpoint.id,
    endpoint.merchantId,
    endpoint.url,
    endpoint.description,
    endpoint.eventTypes,
    endpoint.secretSealed,
    endpoint.createdAt,
  ]);
}

const LOCK_MERCHANT = statement('endpoint_lock_merchant', 'SELECT id FROM merchants WHERE id = $1 FOR UPDATE');
const COUNT = statement(
  'endpoint_count',
  'SELECT count(*)::int AS count FROM endpoints WHERE merchant_id = $1 AND deleted_at IS NULL',
);

/** Until the transaction ends no other one that locks the merchant goes on: what is counted stays so. */
export async function lockMerchant(tx: Tx, merchantId: MerchantId): Promise<void> {
  await tx.run(LOCK_MERCHANT, [merchantId]);
}

/** How many endpoints the merchant has. */
export async function countEndpoints(tx: Tx, merchantId: MerchantId): Promise<number> {
  const [row] = await tx.run<{ count: number }>(COUNT, [merchantId]);
  return row?.count ?? 0;
}

const EXISTS = statement(
  'endpoint_exists',
  'SELECT 1 FROM endpoints WHERE id = $1 AND merchant_id = $2 AND deleted_at IS NULL',
);

export async function endpointExists(tx: Tx, merchantId: MerchantId, id: EndpointId): Promise<boolean> {
  return (await tx.run(EXISTS, [id, merchantId])).length > 0;
}

const SET_HEALTHY = statement(
  'endpoint_set_healthy',
  'UPDATE endpoints SET failing_since = NULL WHERE id = ANY($1) AND failing_since IS NOT NULL',
);

export async function setEndpointsHealthy(db: Queryable, ids: readonly EndpointId[]): Promise<void> {
  await db.run(SET_HEALTHY, [ids]);
}

const SET_FAILING = statement(
  'endpoint_set_failing',
  'UPDATE endpoints SET failing_since = $2 WHERE id = ANY($1) AND failing_since IS NULL',
);

/** Those that fail already keep the time since when. */
export async function setEndpointsFailing(db: Queryable, ids: readonly EndpointId[], at: Date): Promise<void> {
  await db.run(SET_FAILING, [ids, at]);
}

export type DisabledEndpoint = { readonly id: EndpointId; readonly merchantId: MerchantId };

const DISABLE = statement(
  'endpoint_disable',
  `UPDATE endpoints SET state = 'disabled', disabled_reason = $2, disabled_at = $3, updated_at = $3
   WHERE id = ANY($1) AND state = 'enabled' AND ($4::timestamptz IS NULL OR failing_since <= $4)
   RETURNING id, merchant_id`,
);

/** Disables those that are enabled and, where a time is given, fail since then at the latest; returns them. */
export async function disableEndpoints(
  db: Queryable,
  ids: readonly EndpointId[],
  why: { readonly reason: DisabledReason; readonly failingSince?: Date; readonly at: Date },
): Promise<DisabledEndpoint[]> {
  const rows = await db.run<{ id: EndpointId; merchant_id: MerchantId }>(DISABLE, [
    ids,
    why.reason,
    why.at,
    why.failingSince ?? null,
  ]);
  return rows.map((row) => ({ id: row.id, merchantId: row.merchant_id }));
}

const DISABLE_ALL = statement(
  'endpoint_disable_all',
  `UPDATE endpoints SET state = 'disabled', disabled_reason = 'by_person', disabled_at = $2, updated_at = $2
   WHERE merchant_id = $1 AND state = 'enabled'`,
);

export async function disableEndpointsOf(db: Queryable, merchantId: MerchantId, at: Date): Promise<void> {
  await db.run(DISABLE_ALL, [merchantId, at]);
}
