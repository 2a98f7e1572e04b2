// The rights of each database account, table by table. Every `migrate` grants them again, so that this file applies,
// also to later tables and accounts.
import { escapeIdentifier, type Client } from 'pg';

/** Runs the server and the staff commands. It reads every table, and has no right that none of our statements needs. */
export const APPLICATION = 'malipo_app';
/** Reads the data that reports need, and no secret, password hash or digest of a token. */
export const REPORTS = 'malipo_report';

/** A row lock requires the right to change a column: a trigger refuses the change, or it is harmless. */
type Right = 'INSERT' | 'UPDATE' | 'DELETE' | `UPDATE (${string})`;

const APPENDED: readonly Right[] = ['INSERT'];
const KEPT: readonly Right[] = ['INSERT', 'UPDATE'];
const EXPIRING: readonly Right[] = ['INSERT', 'UPDATE', 'DELETE'];
/** Tables that this list lacks: a test fails until they are in it. */
const UNLISTED = EXPIRING;

/** The rights of the application besides reading. */
export const APPLICATION_RIGHTS: Readonly<Record<string, readonly Right[]>> = {
  api_keys: KEPT,
  api_key_uses: KEPT,
  api_requests: ['INSERT', 'UPDATE (created_at)', 'DELETE'],
  // Withdrawn once, otherwise unchanged: a trigger ensures it.
  approvals: KEPT,
  attempt_counters: EXPIRING,
  // Only a link moves the end of its chain and removes the waiting entry, by a trigger that runs as the owner.
  audit_chains: ['UPDATE (chain)'],
  audit_entries: APPENDED,
  audit_entries_to_link: [],
  audit_heads: APPENDED,
  audit_links: APPENDED,
  breakers: KEPT,
  call_grants: KEPT,
  // An attempt locks its checkout, which requires the right to update a column; a checkout is also cancelled.
  checkouts: ['INSERT', 'UPDATE (cancelled_at)'],
  checkout_attempts: APPENDED,
  currencies: [],
  deliveries: KEPT,
  delivery_attempts: APPENDED,
  // The owner writes it, once.
  deployment: [],
  discrepancies: KEPT,
  endpoints: KEPT,
  events: APPENDED,
  // Its owner alone says how long a write is fresh.
  fence: [
    ...(['UPDATE (counter)', 'UPDATE (writer)', 'UPDATE (written_at)', 'UPDATE (lsn)'] as const),
    ...(['UPDATE (server_started_at)', 'UPDATE (system_identifier)'] as const),
    ...(['UPDATE (timeline)', 'UPDATE (database_oid)'] as const),
  ],
  fold_position: ['UPDATE'],
  housekeeping: KEPT,
  idempotency_keys: EXPIRING,
  // Balances change by `post_transfer` alone, which runs as the owner.
  ledger_accounts: ['INSERT', 'UPDATE (currency)'],
  ledger_checkpoints: KEPT,
  ledger_transfers: APPENDED,
  members: KEPT,
  merchants: ['INSERT', 'UPDATE (created_at)'],
  operator_accounts: KEPT,
  operator_callbacks: ['INSERT', 'UPDATE (read_at)', 'UPDATE (received_at)', 'DELETE'],
  operator_exchanges: ['INSERT', 'UPDATE (started_at)', 'DELETE'],
  operator_queries: ['INSERT', 'UPDATE (answered_at)', 'UPDATE (asked_at)', 'DELETE'],
  operator_tokens: KEPT,
  payee_names: ['INSERT', 'UPDATE (asked_at)', 'DELETE'],
  passkey_challenges: EXPIRING,
  passkeys: EXPIRING,
  payment_figures: EXPIRING,
  payment_totals: EXPIRING,
  payment_transitions: [],
  payments: KEPT,
  policies: KEPT,
  proposals: KEPT,
  recoveries: EXPIRING,
  recovery_codes: EXPIRING,
  replays: KEPT,
  restore_findings: APPENDED,
  // Opened once, by two of the staff: a trigger ensures it.
  restores: KEPT,
  refusal_counts: EXPIRING,
  schema_migrations: [],
  send_generations: APPENDED,
  sessions: EXPIRING,
  staff_members: KEPT,
  staff_proposals: KEPT,
  // Numbered again after a restore; a row lock requires this right too.
  state_changes: ['INSERT', 'UPDATE (xid)', 'DELETE'],
  users: KEPT,
  work: EXPIRING,
};

/** The tables for reports, each with its hidden columns. Tables missing here are hidden entirely. */
export const REPORT_TABLES: Readonly<Record<string, readonly string[]>> = {
  api_keys: ['key_sha256'],
  api_key_uses: [],
  approvals: [],
  audit_entries: [],
  breakers: [],
  call_grants: [],
  // A reader of the code could try to pay.
  checkouts: ['code'],
  checkout_attempts: ['code_sha256'],
  currencies: [],
  deliveries: [],
  delivery_attempts: ['response_headers', 'response_body'],
  deployment: [],
  discrepancies: [],
  endpoints: ['secret_sealed', 'previous_secret_sealed'],
  events: [],
  fence: [],
  housekeeping: [],
  ledger_accounts: [],
  ledger_checkpoints: [],
  ledger_entries: [],
  ledger_transfers: [],
  members: [],
  merchants: [],
  operator_accounts: ['credentials_sealed'],
  operator_callbacks: [],
  operator_exchanges: [],
  operator_queries: [],
  payment_figures: [],
  payment_totals: [],
  payment_transitions: [],
  payments: [],
  policies: [],
  proposals: ['token_sha256', 'approval_sha256'],
  replays: [],
  restore_findings: [],
  restores: [],
  send_generations: [],
  users: ['password_hash', 'totp_secret_sealed', 'totp_pending_sealed', 'totp_last_step'],
  work: [],
};

/**
 * No column with such a name is visible, whatever the list says: a column of a later migration may hold a secret. The
 * owner of the tables could also restore a saved row with its attestation.
 */
const SECRET_COLUMN = /attestation|sealed|secret|sha256|hash|digest|token|password|totp|credential|public_key|mac$/;

/** Functions of PostgreSQL by which any account could block others or fill the disk, including its log. */
const RESTRICTED_FUNCTIONS = '^(pg_(try_)?advisory_|lo_|loread$|lowrite$|pg_logical_emit_message$)';
/** The functions that the application needs. */
export const APPLICATION_FUNCTIONS: readonly string[] = ['pg_try_advisory_xact_lock(bigint)'];
/** The function that `migrate` needs. */
const OWNER_FUNCTIONS = 'pg_try_advisory_lock(bigint)';

type Relation = { readonly name: string; readonly isView: boolean; readonly columns: readonly string[] };

/**
 * Gives both accounts exactly these rights, in one transaction, and revokes all others. An account that does not exist
 * gets nothing: the next `migrate` after its creation does. The connection must own the tables.
 */
export async function grantAccess(client: Client): Promise<void> {
  const { rows: accounts } = await client.query<{ name: string }>(
    'SELECT rolname AS name FROM pg_roles WHERE rolname = ANY($1)',
    [[APPLICATION, REPORTS]],
  );
  const names = new Set(accounts.map(({ name }) => name));
  const { rows: relations } = await client.query<Relation>(RELATIONS);
  const { rows: triggers } = await client.query<{ name: string }>(TRIGGER_FUNCTIONS);
  const statements = [
    // An account that may create a table could attach a trigger function to it that runs as the owner, or hide a table
    // from the functions that check it.
    ...triggers.map(({ name }) => `REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`),
    'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
    ...(names.has(APPLICATION) ? grantsOf(APPLICATION, relations, applicationGrants) : []),
    ...(names.has(REPORTS) ? grantsOf(REPORTS, relations, reportGrants) : []),
  ];
  await client.query(statements.join(';\n'));
}

const RELATIONS = `
  SELECT c.relname::text AS name, c.relkind = 'v' AS "isView", array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') GROUP BY 1, 2 ORDER BY 1`;
const TRIGGER_FUNCTIONS = `
  SELECT oid::regprocedure::text AS name FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace AND prorettype = 'trigger'::regtype ORDER BY 1`;

/**
 * Revokes these functions from everybody, in the database of this connection, and grants application and owner those
 * that they need. The connection must be a superuser's, who owns these functions.
 */
export async function restrictFunctions(client: Client, owner: string): Promise<void> {
  const { rows } = await client.query<{ functions: string }>(
    `SELECT string_agg(oid::regprocedure::text, ', ') AS functions FROM pg_proc
     WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ $1`,
    [RESTRICTED_FUNCTIONS],
  );
  const functions = rows[0]?.functions ?? '';
  await client.query(`
    BEGIN;
    REVOKE EXECUTE ON FUNCTION ${functions} FROM PUBLIC, ${APPLICATION}, ${REPORTS};
    GRANT EXECUTE ON FUNCTION ${APPLICATION_FUNCTIONS.join(', ')} TO ${APPLICATION};
    GRANT EXECUTE ON FUNCTION ${OWNER_FUNCTIONS} TO ${escapeIdentifier(owner)};
    COMMIT`);
}

type GrantsFor = (relation: Relation) => readonly string[];

function grantsOf(account: string, relations: readonly Relation[], grantsFor: GrantsFor): string[] {
  return [
    `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${account}`,
    `REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM ${account}`,
    `GRANT USAGE ON SCHEMA public TO ${account}`,
    ...relations.flatMap((relation) => {
      const rights = grantsFor(relation);
      return rights.length === 0
        ? []
        : `GRANT ${rights.join(', ')} ON ${escapeIdentifier(relation.name)} TO ${account}`;
    }),
  ];
}

function applicationGrants({ name, isView }: Relation): readonly string[] {
  return isView ? ['SELECT'] : ['SELECT', ...tableRights(name)];
}

/** The rights of the application on a table, besides reading it. */
export function tableRights(name: string): readonly string[] {
  return APPLICATION_RIGHTS[name] ?? UNLISTED;
}

function reportGrants({ name, columns }: Relation): readonly string[] {
  const hidden = REPORT_TABLES[name];
  if (hidden === undefined) return [];
  const shown = columns.filter((column) => !hidden.includes(column) && !SECRET_COLUMN.test(column));
  return [`SELECT (${shown.map((column) => escapeIdentifier(column)).join(', ')})`];
}
