// Reads everything that is stored about a phone number or a person, table by table, without what is secret.
import type { MerchantId, UserId } from '../../domain/ids.ts';
import { composedStatement, type Queryable, type Statement } from '../platform/database.ts';

/** A stored row. Its columns have the database's names. */
export type PersonalRecord = {
  readonly table: string;
  readonly merchantId: MerchantId | null;
  readonly row: Readonly<Record<string, unknown>>;
};

type Source = {
  readonly table: string;
  /** Secrets, and whatever is somebody else's. */
  readonly without?: readonly string[];
  readonly only?: readonly string[];
  /** Of the row `t`. */
  readonly where: string;
  /** The merchant whose row it is, if it is not in `merchant_id`. */
  readonly merchant?: string;
};

const PAYMENTS_OF_PHONE = `
  payments_of AS (SELECT id, merchant_id, idempotency_key FROM payments WHERE phone = $1),
  events_of AS (SELECT id FROM events WHERE payment_id IN (SELECT id FROM payments_of))`;

const ofPayments = 't.payment_id IN (SELECT id FROM payments_of)';
const ofDeliveries = 'SELECT id FROM deliveries WHERE event_id IN (SELECT id FROM events_of)';
const isObject = '(t.merchant_id, t.object_id) IN (SELECT merchant_id, id FROM payments_of)';

const OF_PHONE: readonly Source[] = [
  { table: 'payments', where: 't.phone = $1' },
  { table: 'approvals', only: ['payment_id', 'approved_at'], where: ofPayments },
  { table: 'ledger_transfers', where: ofPayments, merchant: 'NULL' },
  {
    table: 'idempotency_keys',
    without: ['request_sha256'],
    where: '(t.merchant_id, t.key) IN (SELECT merchant_id, idempotency_key FROM payments_of)',
  },
  { table: 'operator_callbacks', where: ofPayments, merchant: 'NULL' },
  { table: 'operator_exchanges', where: ofPayments },
  { table: 'operator_queries', where: ofPayments },
  { table: 'payee_names', where: ofPayments },
  { table: 'api_requests', where: isObject },
  { table: 'state_changes', where: isObject },
  { table: 'work', where: 't.id IN (SELECT id FROM payments_of)' },
  {
    table: 'checkout_attempts',
    without: ['code_sha256'],
    where: 't.collection_id IN (SELECT id FROM payments_of)',
  },
  {
    table: 'checkouts',
    only: ['id', 'reference', 'description', 'metadata', 'created_at'],
    where: `t.id IN (SELECT checkout_id FROM checkout_attempts WHERE collection_id IN (SELECT id FROM payments_of))`,
  },
  {
    // Attempts at checkouts, which are counted by the digest of the number: `checkoutLimits`.
    table: 'attempt_counters',
    where: `t.subject IN (SELECT 'payer/' || name || encode(sha256(convert_to($1, 'UTF8')), 'hex')
                          FROM unnest(ARRAY['', 'day/']) AS name)`,
    merchant: 'NULL',
  },
  { table: 'discrepancies', where: ofPayments },
  { table: 'events', where: 't.id IN (SELECT id FROM events_of)' },
  { table: 'deliveries', where: 't.event_id IN (SELECT id FROM events_of)' },
  { table: 'delivery_attempts', where: `t.delivery_id IN (${ofDeliveries})`, merchant: 'NULL' },
  { table: 'audit_entries', where: 't.subject_id IN (SELECT id FROM payments_of)' },
];

// Payments, invitations and changes that a person had a part in are about others too: of those, only the part is shown.
const OF_PERSON: readonly Source[] = [
  {
    table: 'users',
    without: ['password_hash', 'totp_secret_sealed', 'totp_pending_sealed'],
    where: 't.id = $1',
    merchant: 'NULL',
  },
  { table: 'members', where: 't.user_id = $1' },
  { table: 'sessions', without: ['token_sha256'], where: 't.user_id = $1' },
  { table: 'recoveries', without: ['token_sha256'], where: 't.user_id = $1', merchant: 'NULL' },
  {
    table: 'staff_proposals',
    without: ['token_sha256', 'confirmation_sha256'],
    where: "t.payload ->> 'user_id' = $1",
    merchant: 'NULL',
  },
  { table: 'recovery_codes', without: ['code_sha256'], where: 't.user_id = $1', merchant: 'NULL' },
  { table: 'passkeys', without: ['credential_id', 'public_key'], where: 't.user_id = $1', merchant: 'NULL' },
  {
    table: 'passkey_challenges',
    without: ['challenge_sha256'],
    where: '(t.subject = $1 OR t.subject = ANY ($3))',
    merchant: 'NULL',
  },
  { table: 'attempt_counters', where: 't.subject = ANY ($3)', merchant: 'NULL' },
  {
    table: 'proposals',
    without: ['token_sha256', 'approval_sha256'],
    where: "(t.email = $2 OR t.user_id = $1 OR (t.kind <> 'invitation' AND $1 IN (t.proposed_by, t.decided_by)))",
  },
  {
    table: 'proposals',
    only: ['id', 'proposed_by', 'created_at', 'decided_by', 'decided_at'],
    where: '$1 IN (t.proposed_by, t.decided_by) AND t.email <> $2',
  },
  { table: 'api_keys', without: ['key_sha256'], where: 't.created_by = $1' },
  {
    table: 'api_key_uses',
    where: 't.api_key_id IN (SELECT id FROM api_keys WHERE created_by = $1)',
    merchant: '(SELECT merchant_id FROM api_keys WHERE id = t.api_key_id)',
  },
  { table: 'checkouts', only: ['id', 'created_by', 'created_at'], where: 't.created_by = $1' },
  {
    table: 'payments',
    only: ['id', 'created_by', 'created_at', 'decided_by'],
    where: '$1 IN (t.created_by, t.decided_by)',
  },
  { table: 'approvals', where: 't.user_id = $1' },
  { table: 'replays', where: 't.requested_by = $1' },
  { table: 'refusal_counts', where: 't.user_id = $1' },
  { table: 'audit_entries', where: '(t.user_id = $1 OR t.subject_id = $1)' },
];

/** The tables that an export of a person reads. */
export const TABLES_OF_PERSON: ReadonlySet<string> = new Set(OF_PERSON.map(({ table }) => table));

// They say nothing about anybody.
const ATTESTATIONS = ['attestation', 'request_attestation', 'release_attestation', 'take_back_attestation'];

function select({ table, without = [], only, where, merchant = 't.merchant_id' }: Source, first: string) {
  const columns = only
    ? `jsonb_build_object(${only.map((column) => `'${column}', t.${column}`).join(', ')})`
    : `to_jsonb(t) - ARRAY[${[...without, ...ATTESTATIONS].map((column) => `'${column}'`).join(', ')}]::text[]`;
  const text = `${first} SELECT '${table}' AS table, ${merchant}::text AS merchant_id, ${columns} AS row FROM ${table} t WHERE ${where}`;
  return composedStatement(`personal_data_${table}`, text);
}

const PHONE_STATEMENTS = OF_PHONE.map((source) => select(source, `WITH ${PAYMENTS_OF_PHONE}`));
// The parameters have their types whether or not a statement uses them.
const PERSON_STATEMENTS = OF_PERSON.map((source) =>
  select(source, 'WITH given AS (SELECT $1::text, $2::text, $3::text[])'),
);

/** All rows about the phone number, of every merchant. */
export async function listDataOfPhone(db: Queryable, phone: string): Promise<PersonalRecord[]> {
  return readAll(db, PHONE_STATEMENTS, [phone]);
}

export type PersonAsked = {
  /** Null: nobody has an account under the address. */
  readonly userId: UserId | null;
  readonly email: string;
  /** Under which failed log-ins of the person are counted. */
  readonly attemptSubjects: readonly string[];
};

/** All rows about the person, at every merchant. */
export async function listDataOfPerson(db: Queryable, asked: PersonAsked): Promise<PersonalRecord[]> {
  return readAll(db, PERSON_STATEMENTS, [asked.userId, asked.email, asked.attemptSubjects]);
}

async function readAll(
  db: Queryable,
  statements: readonly Statement[],
  values: readonly unknown[],
): Promise<PersonalRecord[]> {
  const found: PersonalRecord[] = [];
  for (const query of statements) found.push(...(await db.run<PersonalRecord>(query, values)));
  return found;
}
