// Cases for the database's own rules: a valid row of each table, and helpers that say how a wrong row differs from it.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '../../src/db/platform/database.ts';
import { COLLECTION_STATES, type CollectionState } from '../../src/domain/payments/collection.ts';
import {
  newId,
  type CollectionId,
  type EndpointId,
  type MerchantId,
  type PayoutId,
  type ReversalId,
  type UserId,
} from '../../src/domain/ids.ts';
import { PAYOUT_STATES, type PayoutState } from '../../src/domain/payments/payout.ts';
import { makePayout, makePerson, queue, type Shop } from './payments/payout-rows.ts';
import { makeReversal, queueReversal, recordReversal } from './payments/refund-rows.ts';
import { makeCollection, makeEndpoint, makeMember, makeMerchant, oneRow } from './rows.ts';
import { PEOPLE_ROWS } from './accounts/people-rows.ts';
import { makeStaffFixture, STAFF_ROWS, type StaffFixture } from './accounts/staff-rows.ts';
import { PAYMENT_ROWS } from './payments/payment-rows.ts';
import { withWork } from './work-rows.ts';

/** The rule that refuses a statement: a constraint by its name, or a trigger by its message. */
export type Refusal = { readonly constraint: string } | { readonly says: RegExp };

export type Sql = { readonly text: string; readonly values: readonly unknown[] };

export type RuleCase = {
  /** Completes "refuses …". */
  readonly what: string;
  /** The statements of one transaction. The database must refuse the last one, or the commit. */
  readonly breaks: (fixture: RuleFixture) => readonly Sql[];
  readonly by: Refusal;
};

/** Rows that exist before each case. */
export type RuleFixture = StaffFixture & {
  readonly merchantId: MerchantId;
  readonly otherMerchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly otherEndpointId: EndpointId;
  readonly collections: Readonly<Record<CollectionState, CollectionId>>;
  /** Paid and without a reversal; `collections.succeeded` has one. */
  readonly refundableId: CollectionId;
  readonly otherCollectionId: CollectionId;
  readonly eventId: string;
  readonly otherEventId: string;
  readonly deliveryId: string;
  /** The only owner of the merchant. */
  readonly ownerId: UserId;
  readonly approverId: UserId;
  readonly otherMemberId: UserId;
  /** The person who created the payouts. */
  readonly makerId: UserId;
  /** Neither created nor approved any of the payouts, and may not. */
  readonly developerId: UserId;
  readonly payouts: Readonly<Record<PayoutState, PayoutId>>;
  readonly otherPayoutId: PayoutId;
  readonly reversals: { readonly queued: ReversalId; readonly released: ReversalId; readonly failed: ReversalId };
};

export async function makeRuleFixture(db: Database): Promise<RuleFixture> {
  const merchantId = await makeMerchant(db);
  const otherMerchantId = await makeMerchant(db);
  const endpointId = await makeEndpoint(db, merchantId);
  const otherEndpointId = await makeEndpoint(db, otherMerchantId);
  const collections = {} as Record<CollectionState, CollectionId>;
  for (const state of COLLECTION_STATES) collections[state] = (await makeCollection(db, merchantId, state)).id;
  const other = await makeCollection(db, otherMerchantId, 'prompted');
  const eventOf = async (id: CollectionId) =>
    (await oneRow<{ id: string }>(db, 'SELECT id FROM events WHERE payment_id = $1', [id])).id;
  const eventId = await eventOf(collections.prompted);
  const delivery = await oneRow<{ id: string }>(db, 'SELECT id FROM deliveries WHERE event_id = $1', [eventId]);
  const ownerId = await makeMember(db, merchantId, ['owner']);
  return {
    merchantId,
    otherMerchantId,
    endpointId,
    otherEndpointId,
    collections,
    otherCollectionId: other.id,
    eventId,
    otherEventId: await eventOf(other.id),
    deliveryId: delivery.id,
    ownerId,
    ...(await makeStaffFixture(db, ownerId)),
    developerId: await makeMember(db, merchantId, ['developer']),
    ...(await makeMoneyOut(db, merchantId, collections.succeeded)),
    ...(await makePayoutOfOtherMerchant(db, otherMerchantId)),
  };
}

async function makeShopOf(db: Database, merchantId: MerchantId): Promise<Shop> {
  const maker = await makePerson(db, merchantId, ['maker']);
  const approver = await makePerson(db, merchantId, ['approver']);
  return { merchantId, maker, approver, otherApprover: approver };
}

/** Money, a payout in each state, and a pending reversal of `paidId` after one that failed. */
async function makeMoneyOut(db: Database, merchantId: MerchantId, paidId: CollectionId) {
  const shop = await makeShopOf(db, merchantId);
  const refundable = await makeCollection(db, merchantId, 'succeeded', { amountMinor: 100_000n });
  const payouts = {} as Record<PayoutState, PayoutId>;
  for (const state of PAYOUT_STATES) payouts[state] = (await makePayout(db, shop, state)).id;
  const failed = await makeReversal(db, shop, { id: paidId });
  await recordReversal(db, failed, { kind: 'declined', failureCode: 'operator_rejected' });
  const released = await makeReversal(db, shop, { id: paidId });
  const queued = await queueReversal(db, shop, await makeCollection(db, merchantId, 'succeeded'));
  return {
    refundableId: refundable.id,
    makerId: shop.maker.userId,
    approverId: shop.approver.userId,
    payouts,
    reversals: { queued: queued.id, released: released.id, failed: failed.id },
  };
}

async function makePayoutOfOtherMerchant(db: Database, otherMerchantId: MerchantId) {
  const shop = await makeShopOf(db, otherMerchantId);
  await makeCollection(db, otherMerchantId, 'succeeded');
  const { id: otherPayoutId } = await queue(db, shop, 1000n);
  return { otherPayoutId, otherMemberId: await makeMember(db, otherMerchantId, ['owner']) };
}

export type Row = Readonly<Record<string, unknown>>;

/**
 * A valid row of each table that needs no second row beside it; a new row at each call. Rows of payments and approvals stand by the kind
 * of the payment, and rows of proposals by their kind.
 */
export const VALID_ROWS = {
  currencies: () => ({ code: 'BIF', exponent: 0 }),
  merchants: () => ({ id: newId('mer'), name: 'Shop', currency: 'UGX', created_at: new Date() }),
  api_keys: ({ merchantId }) => ({
    id: newId('key'),
    merchant_id: merchantId,
    name: 'Server',
    environment: 'test',
    hint: 'abcd',
    key_sha256: randomBytes(32),
    scopes: ['collections:read'],
    created_at: new Date(),
  }),
  idempotency_keys: ({ merchantId }) => ({
    merchant_id: merchantId,
    key: randomUUID(),
    request_sha256: randomBytes(32),
    response_status: 202,
    response_body: '{}',
    created_at: new Date(),
  }),
  ...PAYMENT_ROWS,
  discrepancies: ({ merchantId, payouts }) => ({
    merchant_id: merchantId,
    payment_id: payouts.failed,
    kind: 'paid_after_failed',
    operator_receipt: '42',
    found_at: new Date(),
  }),
  ledger_accounts: () => ({ id: 'operator/new/UGX', kind: 'operator', operator: 'new', currency: 'UGX' }),
  events: ({ merchantId, collections }) => ({
    id: newId('evt'),
    merchant_id: merchantId,
    type: 'collection.prompted',
    payment_id: collections.initiated,
    resource_version: 1,
    body: '{}',
    created_at: new Date(),
  }),
  operator_exchanges: ({ merchantId: merchant_id, collections: { prompted: payment_id } }) => ({
    ...{ merchant_id, payment_id, kind: 'send', started_at: new Date(), duration_ms: 12, outcome: 'accepted' },
  }),
  payee_names: ({ merchantId: merchant_id, payouts: { queued: payment_id } }) => ({
    ...{ merchant_id, payment_id, name: 'JANE NAKATO', asked_at: new Date() },
  }),
  operator_callbacks: ({ collections }) => ({
    operator: 'mtn-momo',
    payment_id: collections.prompted,
    body: '{}',
    content_type: 'application/json',
    source_address: '127.0.0.1',
    received_at: new Date(),
  }),
  operator_queries: ({ merchantId: merchant_id, payouts: { released: payment_id } }) => ({
    ...{ id: randomUUID(), merchant_id, payment_id, asked_at: new Date(), seen_callback_id: 0, attestation: '1.mac' },
  }),
  endpoints: ({ merchantId }) => ({
    id: newId('whe'),
    merchant_id: merchantId,
    url: 'https://merchant.example/hook',
    state: 'enabled',
    secret_sealed: 'sealed',
    created_at: new Date(),
    updated_at: new Date(),
  }),
  replays: ({ merchantId, endpointId, ownerId }) => ({
    id: newId('rpl'),
    merchant_id: merchantId,
    endpoint_id: endpointId,
    states: ['dead_lettered'],
    created_before: new Date(),
    state: 'running',
    total: 3,
    requested_by: ownerId,
    created_at: new Date(),
    updated_at: new Date(),
  }),
  delivery_attempts: ({ deliveryId }) => ({
    delivery_id: deliveryId,
    attempt_number: 1,
    started_at: new Date(),
    duration_ms: 12,
    status_code: 200,
    response_headers: '{}',
    response_body: Buffer.alloc(16_384),
  }),
  users: () => ({
    id: newId('usr'),
    email: `${randomUUID()}@shop.example`,
    name: 'Amina',
    password_hash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    created_at: new Date(),
  }),
  ...PEOPLE_ROWS,
  ...STAFF_ROWS,
  recoveries: ({ ownerId, staff }) => ({
    id: newId('rcv'),
    user_id: ownerId,
    proposal_id: staff.recovery,
    token_sha256: randomBytes(32),
    created_at: new Date(),
    expires_at: new Date(Date.now() + 60_000),
  }),
  sessions: ({ merchantId, ownerId }) => ({
    id: newId('ses'),
    token_sha256: randomBytes(32),
    merchant_id: merchantId,
    user_id: ownerId,
    ...{ created_at: new Date(), last_used_at: new Date(), verified_at: new Date() },
    expires_at: new Date(Date.now() + 1000),
  }),
  restores: () => ({
    ...{ reason: 'behind', found_at: new Date(), counter: 5, written_at: new Date(), sessions_ended: 0 },
    ...{ marker: 'file', marker_counter: 9, marker_written_at: new Date() },
  }),
  attempt_counters: () => ({ subject: `person/${randomUUID()}`, failures: 0, window_ends_at: new Date() }),
  policies: ({ otherMerchantId }) => ({ merchant_id: otherMerchantId, updated_at: new Date() }),
  audit_entries: ({ merchantId, ownerId }) => ({
    merchant_id: merchantId,
    user_id: ownerId,
    ...{ action: 'api_key.created', outcome: 'done' },
    created_at: new Date(),
  }),
} as const satisfies Readonly<Record<string, (fixture: RuleFixture) => Row>>;

export type ValidTable = keyof typeof VALID_ROWS;

const TABLES_OF_KINDS: Readonly<Partial<Record<ValidTable, string>>> = {
  collections: 'payments',
  payouts: 'payments',
  reversals: 'payments',
  payout_approvals: 'approvals',
  reversal_approvals: 'approvals',
  invitations: 'proposals',
  member_changes: 'proposals',
  policy_changes: 'proposals',
};

/** A valid row of the table with these columns replaced. */
export function insert(fixture: RuleFixture, table: ValidTable, columns: Row = {}): Sql {
  const { text, values } = insertRow(TABLES_OF_KINDS[table] ?? table, { ...VALID_ROWS[table](fixture), ...columns });
  const hasWork = TABLES_OF_KINDS[table] === 'payments';
  return { text: hasWork ? withWork(text) : text, values };
}

export function insertRow(table: string, row: Row): Sql {
  const names = Object.keys(row);
  const places = names.map((_name, index) => `$${index + 1}`);
  return {
    text: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`,
    values: Object.values(row),
  };
}

export function update(table: string, id: string, assignments: string): Sql {
  return { text: `UPDATE ${table} SET ${assignments} WHERE id = $1`, values: [id] };
}

/** Moves a payment to `state`, with the version counted up and the previous state set. */
export function move(id: CollectionId | PayoutId | ReversalId, state: string, assignments = ''): Sql {
  const more = assignments === '' ? '' : `, ${assignments}`;
  const text = `UPDATE payments SET state = $2, previous_state = state, version = version + 1${more} WHERE id = $1`;
  return { text, values: [id, state] };
}

type Columns = Row | ((fixture: RuleFixture) => Row);

/** Has the operator asked about the payment, as whatever moves it to a state in which the operator has it does. */
export function statusQueryOf(id: CollectionId | PayoutId): Sql {
  const text = `INSERT INTO work (id, task, kind, merchant_id, operator, priority, due_at)
    SELECT id, 'status_query', kind, merchant_id, operator, 1, now() FROM payments WHERE id = $1 ON CONFLICT DO NOTHING`;
  return { text, values: [id] };
}

/** What breaks a rule: `by` is the constraint that refuses it, or what the refusal says. */
export function ruleCase(what: string, by: string | RegExp, breaks: RuleCase['breaks']): RuleCase {
  return { what, breaks, by: typeof by === 'string' ? { constraint: by } : { says: by } };
}

/** A case of two rows that are valid except that they have the same values in these columns. */
export function twoRows(what: string, constraint: string, table: ValidTable, columns: Columns = {}): RuleCase {
  return ruleCase(what, constraint, (fixture) => {
    const row = typeof columns === 'function' ? columns(fixture) : columns;
    return [insert(fixture, table, row), insert(fixture, table, row)];
  });
}

/** A case per line: the insert of a row that is valid except for these columns. */
export function wrongInserts(
  table: ValidTable,
  lines: readonly (readonly [what: string, columns: Columns, constraint: string])[],
): RuleCase[] {
  return lines.map(([what, columns, constraint]) =>
    ruleCase(`${what} in ${table}`, constraint, (fixture) => [
      insert(fixture, table, typeof columns === 'function' ? columns(fixture) : columns),
    ]),
  );
}

/** The table keeps its rows: each of these statements is refused. */
export function refusedChanges(
  table: string,
  ways: readonly ('UPDATE' | 'DELETE' | 'TRUNCATE')[],
  column = 'id',
): RuleCase[] {
  const texts = {
    UPDATE: `UPDATE ${table} SET ${column} = ${column}`,
    DELETE: `DELETE FROM ${table}`,
    TRUNCATE: `TRUNCATE ${table} CASCADE`,
  };
  return ways.map((way) =>
    ruleCase(`to ${way.toLowerCase()} ${table}`, new RegExp(`${way} is not allowed on ${table}`), () => [
      { text: texts[way], values: [] },
    ]),
  );
}
