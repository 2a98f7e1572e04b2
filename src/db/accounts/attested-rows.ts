// The rows that say who may do what. Each carries an attestation of its writer, and counts for nothing without one.
import { permissionDenied } from '../../domain/accounts/member.ts';
import type { AttestedValue } from '../../security/row-attestation.ts';
import { findOne, statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';

type Source = {
  /** The columns of the primary key, as properties of the read row. */
  readonly key: readonly string[];
  /** The attested properties besides the key, in this order for ever: another order gives another attestation. */
  readonly attested: readonly string[];
  /** The expressions of properties that are no columns, for a table with the alias `t`. */
  readonly computed?: Readonly<Record<string, string>>;
  /** The rows that computed properties read: they are locked together with the row. */
  readonly locked?: string;
};

const PASSKEYS = 'ARRAY(SELECT p.id FROM passkeys p WHERE p.user_id = t.id ORDER BY p.id)';

// Somebody can change a column outside this list by hand: no access and no right may depend on it alone.
const SOURCES = {
  // The sealed secret itself is authenticated for its row by the key that seals it.
  users: {
    key: ['id'],
    attested: ['email', 'name', 'passwordHash', 'hasTotp', 'passkeyIds', 'lostSecondFactor', 'recoveredAt'],
    computed: { hasTotp: 't.totp_secret_sealed IS NOT NULL', passkeyIds: PASSKEYS },
    locked: 'SELECT 1 FROM passkeys WHERE user_id = $1 FOR UPDATE',
  },
  passkeys: { key: ['id'], attested: ['userId', 'credentialId', 'publicKey'] },
  members: { key: ['merchantId', 'userId'], attested: ['roles', 'approverSince', 'removedAt'] },
  sessions: {
    key: ['id'],
    attested: ['tokenSha256', 'merchantId', 'userId', 'createdAt', 'verifiedAt', 'secondFactorAt', 'expiresAt'],
  },
  api_keys: {
    key: ['id'],
    attested: [
      ...['merchantId', 'environment', 'keySha256', 'scopes', 'createdBy', 'createdAt', 'expiresAt', 'revokedAt'],
      ...['allowedAddresses', 'name', 'hint'],
    ],
  },
  policies: {
    key: ['merchantId'],
    attested: [
      'secondFactorRequired',
      'twoApproversAboveMinor',
      'approverDailyLimitMinor',
      'payoutExpiresAfterMs',
      'approverWaitMs',
      'keyHeldLimitMinor',
    ],
    computed: {
      payoutExpiresAfterMs: 't.payout_expires_after_ms::float8',
      approverWaitMs: 't.approver_wait_ms::float8',
    },
  },
  recoveries: { key: ['id'], attested: ['userId', 'proposalId', 'tokenSha256', 'createdAt', 'expiresAt'] },
  // The sealed secret is authenticated for the proposal too: a secret sealed before a reset cannot be opened.
  staff_members: {
    key: ['id'],
    attested: [
      ...['name', 'state', 'founder', 'addedBy', 'confirmedBy', 'proposalId'],
      ...['passwordHash', 'hasTotp', 'totpLastStep', 'endedAt'],
    ],
    computed: { hasTotp: 't.totp_secret_sealed IS NOT NULL' },
  },
  staff_proposals: {
    key: ['id'],
    attested: [
      ...['kind', 'payload', 'state', 'proposedBy', 'tokenSha256', 'createdAt', 'expiresAt'],
      ...['decidedBy', 'decidedAt', 'confirmationSha256'],
    ],
  },
  proposals: {
    key: ['id'],
    attested: [
      ...['kind', 'merchantId', 'state', 'userId', 'email', 'rolesBefore', 'roles', 'changes', 'tokenSha256'],
      ...['proposedBy', 'createdAt', 'expiresAt', 'decidedBy', 'decidedAt', 'approvalSha256', 'endedAt'],
    ],
  },
  operator_accounts: {
    key: ['id'],
    attested: [
      ...['operator', 'country', 'currency', 'baseUrl', 'callsPerSecond', 'identifiers', 'credentialsSealed', 'state'],
      ...['proposedBy', 'confirmedBy', 'proposalId', 'createdAt'],
    ],
  },
  // Older entries are not verified again before money leaves.
  ledger_checkpoints: { key: ['accountId'], attested: ['entry', 'balanceMinor', 'unattestedMinor'] },
} as const satisfies Record<string, Source>;

export type AttestedTable = keyof typeof SOURCES;
export const ATTESTED_TABLES = Object.keys(SOURCES) as AttestedTable[];

type PropertyOf<Table extends AttestedTable> =
  (typeof SOURCES)[Table]['key'][number] | (typeof SOURCES)[Table]['attested'][number];

/** All attested properties of a row, and its attestation; null if a join found no row. */
export type AttestedRow<Table extends AttestedTable> = Readonly<Record<PropertyOf<Table>, AttestedValue>> & {
  readonly attestation: string | null;
};

/** Every column that an attestation needs, for a statement with the table alias `t`. */
export function attestedColumns(table: AttestedTable): string {
  return [...propertiesOf(table), 'attestation'].map((property) => expressionOf(table, property)).join(', ');
}

function propertiesOf(table: AttestedTable): readonly string[] {
  const { key, attested }: Source = SOURCES[table];
  return [...key, ...attested];
}

function expressionOf(table: AttestedTable, property: string): string {
  const { computed = {} }: Source = SOURCES[table];
  const expression = computed[property];
  const column = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return expression === undefined ? `t.${column}` : `${expression} AS ${column}`;
}

function isAttested({ attestor }: Queryable, table: AttestedTable, row: StoredRow): boolean {
  if (attestor.isAttested(table, valuesOf(table, row), row.attestation)) return true;
  attestor.report({ table, key: keyOf(table, row).join(' ') });
  return false;
}

function requireAttested(db: Queryable, table: AttestedTable, row: StoredRow): void {
  if (!isAttested(db, table, row)) throw permissionDenied(`a row of ${table} is not attested`);
}

type Row = Readonly<Record<string, AttestedValue | undefined>>;
type StoredRow = Row & { readonly attestation: string | null };

function valuesOf(table: AttestedTable, row: Row): AttestedValue[] {
  return propertiesOf(table).map((property) => {
    const value = row[property];
    if (value === undefined) throw new Error(`a statement that reads ${table} lacks ${property}`);
    return value;
  });
}

function keyOf(table: AttestedTable, row: Row): string[] {
  const { key }: Source = SOURCES[table];
  return key.map((property) => row[property] as string);
}

type Statements = Readonly<Record<'find' | 'set' | 'listKeys', Statement>> & { readonly locks: readonly Statement[] };

const STATEMENTS = Object.fromEntries(
  ATTESTED_TABLES.map((table) => {
    const { key, locked }: Source = SOURCES[table];
    const isRow = key.map((property, index) => `${expressionOf(table, property)} = $${index + 1}`).join(' AND ');
    const names = key.map((property) => expressionOf(table, property)).join(', ');
    const after = key.map((_, index) => `$${index + 1}`).join(', ');
    return [
      table,
      {
        locks: [
          statement(`${table}_lock_attested`)`SELECT 1 FROM ${table} t WHERE ${isRow} FOR NO KEY UPDATE`,
          ...(locked === undefined ? [] : [statement(`${table}_lock_more_attested`)`${locked}`]),
        ],
        find: statement(`${table}_find_attested`)`SELECT ${attestedColumns(table)} FROM ${table} t WHERE ${isRow}`,
        set: statement(`${table}_attest`)`UPDATE ${table} t SET attestation = $${key.length + 1} WHERE ${isRow}`,
        listKeys: statement(`${table}_list_attested_keys`)`
          SELECT ${names} FROM ${table} t WHERE (${names}) > (${after}) ORDER BY ${names} LIMIT $${key.length + 1}`,
      },
    ];
  }),
) as unknown as Readonly<Record<AttestedTable, Statements>>;

/** Reads, verifies and writes the rows of one table. */
export function attestedTable<Table extends AttestedTable>(table: Table) {
  type TableRow = AttestedRow<Table>;
  return {
    columns: attestedColumns(table),
    /** Whether the row is attested in its present form. An unattested row is reported. */
    isAttested: (db: Queryable, row: TableRow) => isAttested(db, table, row),
    /** Throws `permission_denied` unless all rows are attested in their present form. */
    require: (db: Queryable, rows: readonly TableRow[]) => {
      for (const row of rows) requireAttested(db, table, row);
    },
    /** The attested rows; others are reported. For display, never for a decision that depends on the other rows. */
    only: <Row extends TableRow>(db: Queryable, rows: readonly Row[]) =>
      rows.filter((row) => isAttested(db, table, row)),
    /** The row with all its attested properties; null if there is none, or it is unattested. */
    find: async (db: Queryable, key: readonly string[]): Promise<TableRow | null> => {
      const row = await findOne<TableRow>(db, STATEMENTS[table].find, key);
      return row !== null && isAttested(db, table, row) ? row : null;
    },
    /**
     * The attestation of the row with these values, for a statement that writes several rows.
     * The caller verifies the row's earlier attestation.
     */
    next: ({ attestor }: Queryable, row: TableRow) => attestor.attest(table, valuesOf(table, row), row.attestation),
    attest: (tx: Tx, key: readonly string[]) => attestRow(tx, table, key),
    change: <Result>(tx: Tx, key: readonly string[], change: () => Promise<Result>) =>
      changeAttestedRow(tx, table, key, change),
  };
}

/** Attests the row that this transaction has just inserted, or changed under its lock. */
export async function attestRow(tx: Tx, table: AttestedTable, key: readonly string[]): Promise<void> {
  const { find, set } = STATEMENTS[table];
  const row = await findOne<StoredRow>(tx, find, key);
  if (row !== null) await tx.run(set, [...key, tx.attestor.attest(table, valuesOf(table, row), row.attestation)]);
}

/**
 * Runs `change`, which changes this row, and attests the result. The row is first verified under its lock, so that a
 * row written by hand is never attested: then it throws `permission_denied`. If the row does not exist, `change` may
 * insert it.
 */
export async function changeAttestedRow<Result>(
  tx: Tx,
  table: AttestedTable,
  key: readonly string[],
  change: () => Promise<Result>,
): Promise<Result> {
  const row = await lockRow(tx, table, key);
  if (row !== null) requireAttested(tx, table, row);
  const result = await change();
  await attestRow(tx, table, key);
  return result;
}

async function lockRow(tx: Tx, table: AttestedTable, key: readonly string[]): Promise<StoredRow | null> {
  const { locks, find } = STATEMENTS[table];
  // Separate statements: a single statement would read the joined tables as of the time before it waited for the lock.
  for (const lock of locks) await tx.run(lock, key);
  return findOne<StoredRow>(tx, find, key);
}

/** The keys of the rows after `after` in key order, at most `limit`. Null: from the first. */
export async function listAttestedKeys(
  db: Queryable,
  table: AttestedTable,
  after: readonly string[] | null,
  limit: number,
): Promise<string[][]> {
  const { key }: Source = SOURCES[table];
  const from = after ?? key.map(() => '');
  return (await db.run<Row>(STATEMENTS[table].listKeys, [...from, limit])).map((row) => keyOf(table, row));
}

/** `gone`: there is no such row. */
export type AttestationState = 'attested' | 'unattested' | 'gone';

export async function verifyRow(
  db: Queryable,
  table: AttestedTable,
  key: readonly string[],
): Promise<AttestationState> {
  return attestationStateOf(db, table, await findOne<StoredRow>(db, STATEMENTS[table].find, key));
}

/** Attests the row with the ring's first key if it was attested; returns its earlier state. The row is locked. */
export async function renewAttestation(
  tx: Tx,
  table: AttestedTable,
  key: readonly string[],
): Promise<AttestationState> {
  const was = attestationStateOf(tx, table, await lockRow(tx, table, key));
  if (was === 'attested') await attestRow(tx, table, key);
  return was;
}

function attestationStateOf({ attestor }: Queryable, table: AttestedTable, row: StoredRow | null): AttestationState {
  if (row === null) return 'gone';
  return attestor.isAttested(table, valuesOf(table, row), row.attestation) ? 'attested' : 'unattested';
}
