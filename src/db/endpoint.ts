// Rows of webhook endpoints.
import type { EventType } from '../domain/event.ts';
import type { EndpointId, MerchantId } from '../domain/ids.ts';
import { statement, type Queryable, type Tx } from './database.ts';

const INSERT = statement(
  'endpoint_insert',
  `INSERT INTO endpoints (id, merchant_id, url, description, event_types, state, secret_sealed, created_at)
   VALUES ($1, $2, $3, $4, $5, 'enabled', $6, $7)`,
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
const COUNT = statement('endpoint_count', 'SELECT count(*)::int AS count FROM endpoints WHERE merchant_id = $1');

/** How many endpoints the merchant has; no other transaction adds one until this one ends. */
export async function countEndpointsLocked(tx: Tx, merchantId: MerchantId): Promise<number> {
  await tx.run(LOCK_MERCHANT, [merchantId]);
  const [row] = await tx.run<{ count: number }>(COUNT, [merchantId]);
  return row?.count ?? 0;
}

const SET_FAILING = statement(
  'endpoint_set_failing',
  'UPDATE endpoints SET is_failing = $2 WHERE id = ANY($1) AND is_failing <> $2',
);

export async function setEndpointsFailing(
  db: Queryable,
  ids: readonly EndpointId[],
  isFailing: boolean,
): Promise<void> {
  await db.run(SET_FAILING, [ids, isFailing]);
}

const DISABLE = statement(
  'endpoint_disable',
  `UPDATE endpoints SET state = 'disabled', disabled_reason = $2 WHERE id = ANY($1) AND state = 'enabled'`,
);

export async function disableEndpoints(db: Queryable, ids: readonly EndpointId[], reason: string): Promise<void> {
  await db.run(DISABLE, [ids, reason]);
}

const DISABLE_ALL = statement(
  'endpoint_disable_all',
  `UPDATE endpoints SET state = 'disabled', disabled_reason = $2 WHERE merchant_id = $1 AND state = 'enabled'`,
);

export async function disableEndpointsOf(db: Queryable, merchantId: MerchantId, reason: string): Promise<void> {
  await db.run(DISABLE_ALL, [merchantId, reason]);
}
