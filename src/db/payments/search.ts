// Finds objects of a merchant by an id, a reference or its beginning, a phone, an idempotency key or a request.
import { idTimeMs, lowestIdAt, type MerchantId, type RequestId } from '../../domain/ids.ts';
import { OPERATOR_IDS } from '../../domain/payments/operator-catalogue.ts';
import type { PaymentKind } from '../../domain/payments/payment.ts';
import type { FoundBy, HitKind, SearchHit } from '../../domain/payments/search.ts';
import { statement, type Queryable, type Statement } from '../platform/database.ts';

/** The most objects of one kind that are found in one way. */
const MOST = 10;

type Found = Omit<SearchHit, 'kind' | 'foundBy'>;

const PAYMENT_COLUMNS = 'id, state, amount_minor, currency, reference, phone, NULL AS title, created_at';
const OTHER_COLUMNS = 'NULL::bigint AS amount_minor, NULL AS currency, NULL AS reference, NULL AS phone';

const NEWEST = `ORDER BY id DESC LIMIT ${MOST}`;
const PAYMENT_WAYS: Readonly<Record<FoundBy, string>> = {
  id: 'id = $2',
  // Searches only payments that were created soon after the request, because no index has request ids.
  request_id: `id >= $3 AND id < $4 AND request_id = $2 ${NEWEST}`,
  operator_reference: `(operator_reference = $2::uuid
    OR id = (SELECT payment_id FROM send_generations WHERE operator_reference = $2::uuid))`,
  operator_receipt: `operator = ANY('{${OPERATOR_IDS.join(',')}}') AND operator_receipt = $2`,
  idempotency_key: `lower(idempotency_key) = lower($2 COLLATE "C") ${NEWEST}`,
  reference: `lower(reference) = lower($2) ${NEWEST}`,
  phone: `phone = $2 ${NEWEST}`,
  // Compares by bytes, as the index does. U+10FFFF is above every character that a reference can have.
  reference_prefix: `lower(reference) ~>~ lower($2) AND lower(reference) ~<~ (lower($2) || U&'\\+10FFFF')
    ORDER BY lower(reference) USING ~<~ LIMIT ${MOST}`,
};

const ALL_WAYS = Object.keys(PAYMENT_WAYS) as FoundBy[];

function inPayments(kind: PaymentKind, ways: readonly FoundBy[]): Partial<Record<FoundBy, Statement>> {
  const source = `SELECT ${PAYMENT_COLUMNS} FROM payments WHERE merchant_id = $1 AND kind = '${kind}'`;
  return Object.fromEntries(
    ways.map((way) => [way, statement(`${kind}_search_${way}`)`${source} AND ${PAYMENT_WAYS[way]}`]),
  );
}

const inCheckouts = (way: FoundBy, where: string): Statement =>
  statement(`checkouts_search_${way}`)`
    SELECT id, NULL AS state, amount_minor, currency, reference, NULL AS phone, description AS title, created_at
    FROM checkouts WHERE merchant_id = $1 AND ${where}`;

const byId = (table: string, title: string, { state = 'NULL', where = '' } = {}): Statement =>
  statement(`${table}_search_id`)`
    SELECT id, ${state} AS state, ${OTHER_COLUMNS}, ${title} AS title, created_at
    FROM ${table} WHERE merchant_id = $1 AND id = $2 ${where}`;

/** The ways in which each kind is found. */
const STATEMENTS: Readonly<Record<HitKind, Readonly<Partial<Record<FoundBy, Statement>>>>> = {
  collection: inPayments('collection', ALL_WAYS),
  payout: inPayments('payout', ALL_WAYS),
  // Every other search value finds the collection of the refund.
  reversal: inPayments('reversal', ['id', 'operator_reference']),
  api_request: { id: byId('api_requests', `method || ' ' || route`) },
  event: { id: byId('events', 'type') },
  delivery: {
    id: statement('deliveries_search_id')`
      SELECT d.id, d.state, ${OTHER_COLUMNS}, v.type AS title, d.created_at
      FROM deliveries d JOIN events v ON v.id = d.event_id WHERE d.merchant_id = $1 AND d.id = $2`,
  },
  endpoint: { id: byId('endpoints', 'url', { state: 'state', where: 'AND deleted_at IS NULL' }) },
  checkout: {
    id: inCheckouts('id', 'id = $2'),
    reference: inCheckouts('reference', PAYMENT_WAYS.reference),
    reference_prefix: inCheckouts('reference_prefix', PAYMENT_WAYS.reference_prefix),
  },
  api_key: { id: byId('api_keys', 'name') },
};

/** The newest objects of this kind that are found in this way, at most ten. By the beginning of a reference: the first in its order. */
export async function findHits(
  db: Queryable,
  merchantId: MerchantId,
  { kind, foundBy }: Pick<SearchHit, 'kind' | 'foundBy'>,
  text: string,
): Promise<SearchHit[]> {
  const query = STATEMENTS[kind][foundBy];
  if (!query) return [];
  const bounds = foundBy === 'request_id' ? boundsOf(kind, text as RequestId) : [];
  const rows = await db.run<Found>(query, [merchantId, text, ...bounds]);
  return rows.map((row) => ({ kind, foundBy, ...row }));
}

/** Upper bounds: of the duration of a request, and of the difference between the clocks of two processes. */
const LONGEST_REQUEST_MS = 120_000;
const CLOCKS_DIFFER_MS = 5000;

/** The bounds for the id of a payment that this request created. */
function boundsOf(kind: HitKind, requestId: RequestId): [from: string, to: string] {
  const prefix = kind === 'payout' ? 'pay' : 'col';
  const at = idTimeMs(requestId);
  return [lowestIdAt(prefix, at - CLOCKS_DIFFER_MS), lowestIdAt(prefix, at + LONGEST_REQUEST_MS)];
}
