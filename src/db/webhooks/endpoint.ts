// Statements on webhook endpoints.
import type { DisabledReason, Endpoint } from '../../domain/webhooks/endpoint.ts';
import { isId, type EndpointId, type MerchantId } from '../../domain/ids.ts';
import { notFound } from '../../domain/errors.ts';
import { findOne, readCount, statement, type Queryable, type Tx } from '../platform/database.ts';
import { insertion, parametersOf } from '../platform/columns.ts';
import { newestPages } from '../platform/page.ts';

const insert = insertion(
  'endpoint_insert',
  'endpoints',
  'id, merchant_id, url, description, event_types, state, secret_sealed, created_at, updated_at',
);

export async function insertEndpoint(tx: Tx, endpoint: Endpoint, secretSealed: string): Promise<void> {
  await insert(tx, { ...endpoint, state: 'enabled', secretSealed, updatedAt: endpoint.createdAt });
}

// Not FOR UPDATE, which would also block the merchant's payments, because each refers to its merchant.
const LOCK_MERCHANT = statement('endpoint_lock_merchant')`SELECT id FROM merchants WHERE id = $1 FOR NO KEY UPDATE`;
const COUNT = statement('endpoint_count')`
  SELECT count(*)::int AS count FROM endpoints WHERE merchant_id = $1 AND deleted_at IS NULL`;

/** Locks the merchant until the transaction ends, against other such locks: a count taken now stays true. */
export async function lockMerchant(tx: Tx, merchantId: MerchantId): Promise<void> {
  await tx.run(LOCK_MERCHANT, [merchantId]);
}

export async function countEndpoints(tx: Tx, merchantId: MerchantId): Promise<number> {
  return readCount(tx, COUNT, [merchantId]);
}

const EXISTS = statement('endpoint_exists')`
  SELECT 1 FROM endpoints WHERE id = $1 AND merchant_id = $2 AND deleted_at IS NULL`;

export async function endpointExists(tx: Tx, merchantId: MerchantId, id: EndpointId): Promise<boolean> {
  return (await tx.run(EXISTS, [id, merchantId])).length > 0;
}

const LOCK_URLS = statement('endpoint_lock_urls')`
  SELECT id, url FROM endpoints WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`;

/** Locks the endpoints and returns their URLs, which no other transaction changes until this one ends. */
export async function lockEndpointUrls(tx: Tx, ids: readonly EndpointId[]): Promise<ReadonlyMap<EndpointId, string>> {
  const rows = await tx.run<{ id: EndpointId; url: string }>(LOCK_URLS, [ids]);
  return new Map(rows.map(({ id, url }) => [id, url]));
}

const SET_HEALTHY = statement('endpoint_set_healthy')`
  UPDATE endpoints SET failing_since = NULL WHERE id = ANY($1) AND failing_since IS NOT NULL`;

export async function setEndpointsHealthy(db: Queryable, ids: readonly EndpointId[]): Promise<void> {
  await db.run(SET_HEALTHY, [ids]);
}

const SET_FAILING = statement('endpoint_set_failing')`
  UPDATE endpoints SET failing_since = $2 WHERE id = ANY($1) AND failing_since IS NULL`;

/** Endpoints that are already failing keep their `failing_since`. */
export async function setEndpointsFailing(db: Queryable, ids: readonly EndpointId[], at: Date): Promise<void> {
  await db.run(SET_FAILING, [ids, at]);
}

export type DisabledEndpoint = { readonly id: EndpointId; readonly merchantId: MerchantId };

const DISABLE = statement('endpoint_disable')`
  UPDATE endpoints SET state = 'disabled', disabled_reason = $2, disabled_at = $3, updated_at = $3
  WHERE id = ANY($1) AND state = 'enabled' AND ($4::timestamptz IS NULL OR failing_since <= $4)
  RETURNING id, merchant_id`;

/** Disables enabled endpoints, with `failingSince` only those failing since then; returns the disabled ones. */
export async function disableEndpoints(
  db: Queryable,
  ids: readonly EndpointId[],
  why: { readonly reason: DisabledReason; readonly failingSince?: Date; readonly at: Date },
): Promise<DisabledEndpoint[]> {
  return db.run<DisabledEndpoint>(DISABLE, [ids, why.reason, why.at, why.failingSince ?? null]);
}

const SELECT = `SELECT id, merchant_id, url, description, event_types, state, disabled_reason, disabled_at, failing_since,
    previous_secret_until, created_at, updated_at
  FROM endpoints WHERE merchant_id = $1 AND deleted_at IS NULL`;

const FIND = statement('endpoint_find')`${SELECT} AND id = $2`;

/** Throws `endpoint_not_found`, also for a deleted endpoint. */
export async function getEndpoint(db: Queryable, merchantId: MerchantId, id: string): Promise<Endpoint> {
  const endpoint = isId('whe', id) ? await findOne<Endpoint>(db, FIND, [merchantId, id]) : null;
  if (!endpoint) throw notFound('endpoint');
  return endpoint;
}

const FIND_LOCKED = statement('endpoint_find_locked')`${SELECT} AND id = $2 FOR NO KEY UPDATE`;

/** The endpoint, locked: no other transaction changes it until this one ends. Null for a deleted endpoint too. */
export async function findEndpointLocked(tx: Tx, merchantId: MerchantId, id: EndpointId): Promise<Endpoint | null> {
  return findOne<Endpoint>(tx, FIND_LOCKED, [merchantId, id]);
}

const LIST = statement('endpoint_list')`${SELECT} AND id < coalesce($2, 'whe_~') ORDER BY id DESC LIMIT $3`;

/** Without the deleted endpoints. */
export const listEndpoints = newestPages<Endpoint>(LIST);

const CHANGED = parametersOf(
  'url, description, event_types, state, disabled_reason, disabled_at, failing_since, updated_at',
  2,
);
const CHANGE = statement('endpoint_change')`
  UPDATE endpoints SET (${CHANGED.columns}) = (${CHANGED.places}) WHERE id = $1`;

/** Writes the settings that a person may change, and the columns that depend on them. */
export async function changeEndpoint(tx: Tx, endpoint: Endpoint): Promise<void> {
  await tx.run(CHANGE, [endpoint.id, ...CHANGED.valuesOf(endpoint)]);
}

const DELETE = statement('endpoint_delete')`
  UPDATE endpoints SET state = 'disabled', disabled_reason = 'deleted', disabled_at = coalesce(disabled_at, $2),
    deleted_at = $2, updated_at = $2, secret_sealed = NULL, previous_secret_sealed = NULL, previous_secret_until = NULL
  WHERE id = $1`;

/** Keeps the row, because deliveries refer to it, and erases its secrets. */
export async function deleteEndpoint(tx: Tx, id: EndpointId, at: Date): Promise<void> {
  await tx.run(DELETE, [id, at]);
}

const ROTATE = statement('endpoint_rotate')`
  UPDATE endpoints SET previous_secret_sealed = CASE WHEN $3::timestamptz IS NOT NULL THEN secret_sealed END,
    previous_secret_until = $3, secret_sealed = $2, updated_at = $4
  WHERE id = $1`;

export type SecretRotation = {
  readonly secretSealed: string;
  /** Until when the current secret also signs; null: it stops signing now. */
  readonly previousUntil: Date | null;
  readonly at: Date;
};

/** Makes the current secret the previous one; an earlier previous secret is erased. */
export async function rotateEndpointSecret(tx: Tx, id: EndpointId, rotation: SecretRotation): Promise<void> {
  await tx.run(ROTATE, [id, rotation.secretSealed, rotation.previousUntil, rotation.at]);
}

const ERASE_ENDED = statement('endpoint_erase_ended_secrets')`
  UPDATE endpoints SET previous_secret_sealed = NULL, previous_secret_until = NULL
  WHERE id IN (SELECT id FROM endpoints WHERE previous_secret_until < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING id`;

/** Erases up to `limit` previous secrets whose overlap ended before `endedBefore`; returns how many. */
export async function eraseEndedSecrets(db: Queryable, endedBefore: Date, limit: number): Promise<number> {
  return (await db.run(ERASE_ENDED, [endedBefore, limit])).length;
}
