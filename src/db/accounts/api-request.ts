// Rows of the request log.
import type { ApiRequest, ListedApiRequest, StatusClass } from '../../domain/accounts/api-request.ts';
import { notFound } from '../../domain/errors.ts';
import { isId, type MerchantId, type RequestId } from '../../domain/ids.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import { composedStatement, findOne, statement, type Queryable } from '../platform/database.ts';
import { conditionsOf, idConditions, readPage, type ListRange, type Page } from '../platform/page.ts';

const INSERT = statement('api_request_insert')`
  INSERT INTO api_requests (id, merchant_id, api_key_id, method, route, path, status, error_code, duration_ms, address,
                            idempotency_key, is_repeat, object_id, created_at)
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS r (
    "id" text, "merchantId" text, "apiKeyId" text, "method" text, "route" text, "path" text, "status" integer, "errorCode" text,
    "durationMs" integer, "address" inet, "idempotencyKey" text, "isRepeat" boolean, "objectId" text, "createdAt" timestamptz)
  ON CONFLICT (id) DO NOTHING`;

/** Inserts all of them or none. */
export async function insertApiRequests(db: Queryable, requests: readonly ApiRequest[]): Promise<void> {
  await db.run(INSERT, [JSON.stringify(requests)]);
}

const SELECT = `
  SELECT r.id, json_build_object('id', r.api_key_id, 'name', (SELECT name FROM api_keys WHERE id = r.api_key_id)) AS api_key,
         r.method, r.route, r.path, r.status, r.error_code,
         r.duration_ms, host(r.address) AS address, r.idempotency_key, r.is_repeat, r.object_id, r.created_at
  FROM api_requests r
  WHERE r.merchant_id = $1`;

export type ApiRequestFilter = ListRange<RequestId> & {
  readonly key?: string;
  readonly status?: StatusClass;
  readonly method?: string;
  readonly route?: string;
  readonly object?: string;
};

const STATUS_CONDITIONS: Readonly<Record<StatusClass, string>> = {
  '2xx': 'r.status < 400',
  '4xx': 'r.status >= 400 AND r.status < 500',
  '5xx': 'r.status >= 400 AND r.status >= 500',
};

export async function listApiRequests(
  db: Queryable,
  merchantId: MerchantId,
  filter: ApiRequestFilter,
  limit: number,
): Promise<Page<ListedApiRequest>> {
  const { conditions, values } = conditionsOf(3, [
    ['r.api_key_id = ?', filter.key],
    ['r.method = ?', filter.method],
    ['r.route = ?', filter.route],
    ['r.object_id = ?', filter.object],
    ...idConditions('r.id', 'req', filter),
  ]);
  const ofStatus = filter.status === undefined ? '' : ` AND ${STATUS_CONDITIONS[filter.status]}`;
  const text = `${SELECT}${ofStatus}${conditions} ORDER BY r.id DESC LIMIT $2`;
  const query = composedStatement('api_request_list', text);
  return readPage(limit, (count) => db.run<ListedApiRequest>(query, [merchantId, count, ...values]));
}

const FIND = statement('api_request_find')`${SELECT} AND r.id = $2`;

/** Throws `request_not_found`. */
export async function getApiRequest(db: Queryable, merchantId: MerchantId, id: string): Promise<ListedApiRequest> {
  const request = isId('req', id) ? await findOne<ListedApiRequest>(db, FIND, [merchantId, id]) : null;
  if (!request) throw notFound('request');
  return request;
}

export const deleteApiRequests = boundedDelete('api_request_delete_old', {
  table: 'api_requests',
  key: 'id',
  isOver: 'created_at < $1',
});
