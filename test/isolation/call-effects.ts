// Checks of what a call left in the database: a refused call leaves nothing but its entry in the audit log.
import assert from 'node:assert/strict';
import type { Database } from '../../src/db/platform/database.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { MerchantId } from '../../src/domain/ids.ts';
import { assertError, assertNotAuthenticated } from '../api/responses.ts';
import type { ApiResponse } from '../support/api.ts';
import type { TestPerson } from '../support/people.ts';
import type { Sample } from './operation.ts';
import type { Headers, IsolationEnvironment } from './tenants.ts';

/** A digest of the rows of every table, by table. */
export type TableDigests = Readonly<Record<string, string>>;

type Table = { readonly name: string; readonly of_merchants: boolean; readonly notes_use: boolean };

// Not the request log, which has refused calls of keys too, some time after their responses: tests of its own say what is in it. Nor the
// fence, which is written every second.
const TABLES = `
  SELECT t.table_name AS name, bool_or(c.column_name = 'merchant_id') AS of_merchants,
    bool_or(c.column_name = 'last_used_at') AS notes_use
  FROM information_schema.tables t JOIN information_schema.columns c USING (table_schema, table_name)
  WHERE t.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND t.table_name NOT IN ('api_requests', 'fence')
  GROUP BY t.table_name ORDER BY t.table_name`;

/** The queue of entries that are to be linked: it holds every merchant's, and follows from the entries. */
const TO_LINK = 'audit_entries_to_link';
const AUDIT_TABLES: ReadonlySet<string> = new Set(['audit_entries', 'refusal_counts', TO_LINK]);

/** What is noted of a key, a session or a person when a call is made with it. */
const NOTES = '{last_used_at,failed_log_ins,last_failed_at,last_failed_address}';

// The schema stays as it is while a test runs.
const tablesOf = new WeakMap<Database, Promise<Table[]>>();

function listTables(db: Database): Promise<Table[]> {
  let tables = tablesOf.get(db);
  if (!tables) {
    tables = db.pool.query<Table>(TABLES).then(({ rows }) => rows);
    tablesOf.set(db, tables);
  }
  return tables;
}

const SERVICE_FIGURES: ReadonlySet<string> = new Set(['payment_figures', 'fold_position']);

async function digestTables(db: Database, ofTable: (table: Table) => string | null): Promise<TableDigests> {
  const parts = (await listTables(db)).flatMap((table) => {
    const condition = ofTable(table);
    if (condition === null) return [];
    // Refused calls too record when a key or a session was last used, to the minute.
    const row = table.notes_use || table.name === 'users' ? `(to_jsonb(x) - '${NOTES}'::text[])::text` : 'x::text';
    return [
      `SELECT '${table.name}' AS name, count(*) || ' ' || coalesce(sum(hashtextextended(${row}, 0)), 0) AS digest
       FROM ${table.name} x WHERE ${condition}`,
    ];
  });
  const { rows } = await db.pool.query<{ name: string; digest: string }>(parts.join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** Everything but the audit log and the counters that limit its growth. */
function digestWithoutAudit(db: Database): Promise<TableDigests> {
  return digestTables(db, ({ name }) => {
    if (name === 'attempt_counters') return "x.subject NOT LIKE 'refusal/%'";
    return AUDIT_TABLES.has(name) ? null : 'true';
  });
}

/**
 * Everything, the audit log included, except this merchant's rows, the counters of authentication attempts, and the
 * figures of the whole service, which belong to no merchant.
 */
export function digestOfOthers(db: Database, merchantId: MerchantId): Promise<TableDigests> {
  return digestTables(db, ({ name, of_merchants: isOfMerchants }) => {
    if (name === 'attempt_counters' || name === TO_LINK || SERVICE_FIGURES.has(name)) return null;
    // What a person tried is counted on their own row.
    if (name === 'users') return `id NOT IN (SELECT user_id FROM members WHERE merchant_id = '${merchantId}')`;
    return isOfMerchants ? `merchant_id IS DISTINCT FROM '${merchantId}'` : 'true';
  });
}

export type AuditRow = Readonly<Record<string, unknown>> & { readonly outcome: string };

/** The entries after the one with this id, oldest first. */
export async function auditAfter(db: Database, lastId: string): Promise<AuditRow[]> {
  const { rows } = await db.pool.query<AuditRow>(
    `SELECT merchant_id, user_id, api_key_id, action, outcome, subject_id,
       coalesce(after->>'reason', '') <> '' AS has_reason, request_id
     FROM audit_entries WHERE id > $1 ORDER BY id`,
    [lastId],
  );
  return rows;
}

export async function lastAuditId(db: Database): Promise<string> {
  const { rows } = await db.pool.query<{ id: string }>('SELECT coalesce(max(id), 0)::text AS id FROM audit_entries');
  return rows[0]!.id;
}

export type Attempt = {
  readonly operationId: string;
  readonly sample: Sample;
  readonly headers: Headers;
  /** The person whose session it uses, whom the audit log then names; null: nobody. */
  readonly person: TestPerson | null;
  /** The merchant's key that it uses, if its refusal must be in the audit log. */
  readonly apiKey?: { readonly id: string; readonly merchantId: MerchantId };
  /** `permission_denied` by default. */
  readonly code?: ErrorCode;
  /** What a failure of the test names. */
  readonly why: string;
};

/**
 * Makes the calls one after the other. Fails unless each is refused, none changes anything, and each is in the audit
 * log exactly if its caller is known.
 */
export async function assertRefused(
  { testEnv, published, send }: IsolationEnvironment,
  attempts: readonly Attempt[],
): Promise<ApiResponse[]> {
  const [before, lastId] = [await digestWithoutAudit(testEnv.db), await lastAuditId(testEnv.db)];
  const responses: ApiResponse[] = [];
  const expected: AuditRow[] = [];
  for (const { operationId, sample, headers, person, apiKey, code = 'permission_denied', why } of attempts) {
    const response = await send(operationId, sample, headers);
    assert.ok(response.status >= 400, `${operationId} ${why}: was let in, ${response.status}`);
    const isUnknown = person === null && apiKey === undefined && code === 'permission_denied';
    if (isUnknown) assertNotAuthenticated(response);
    else assertError(response, code);
    responses.push(response);
    const known = person ?? apiKey;
    if (known === undefined) continue;
    const { method, path } = published.find(operationId);
    expected.push({
      merchant_id: known.merchantId,
      user_id: person?.id ?? null,
      api_key_id: apiKey?.id ?? null,
      action: `${method} ${path.replace('{id}', ':id')}`,
      outcome: 'refused',
      subject_id: apiKey?.id ?? sample.id ?? null,
      has_reason: true,
      request_id: response.headers.get('malipo-request-id'),
    });
  }
  const where = [...new Set(attempts.map(({ operationId, why }) => `${operationId} ${why}`))].join(', ');
  assert.deepEqual(await digestWithoutAudit(testEnv.db), before, `something changed: ${where}`);
  assert.deepEqual(await auditAfter(testEnv.db, lastId), expected, where);
  return responses;
}

/** Asked with a body that a GET has no room for; it changes nothing, so nothing of it is in the audit log. */
const ONLY_ASK: readonly string[] = ['checkPayouts'];

/** Fails unless the call succeeds and, where it changes something with a session, is in the audit log. */
export async function assertLetIn(
  { testEnv, published, send }: IsolationEnvironment,
  attempt: Attempt,
): Promise<ApiResponse> {
  const { operationId, sample, headers, person } = attempt;
  const onlyAsks = ONLY_ASK.includes(operationId);
  const before = onlyAsks ? await digestWithoutAudit(testEnv.db) : null;
  const lastId = await lastAuditId(testEnv.db);
  const response = await send(operationId, sample, headers);
  const where = `${operationId} ${attempt.why}: ${response.status} ${response.text}`;
  assert.ok(response.status >= 200 && response.status < 300, where);
  if (onlyAsks) {
    assert.deepEqual(await digestWithoutAudit(testEnv.db), before, where);
    return response;
  }
  if (person === null || published.find(operationId).method === 'GET') return response;
  const requestId = response.headers.get('malipo-request-id');
  const entries = await auditAfter(testEnv.db, lastId);
  assert.ok(entries.length > 0, `${where}: is not in the audit log`);
  for (const entry of entries) {
    assert.deepEqual(
      [entry.outcome, entry['user_id'], entry['merchant_id'], entry['request_id']],
      ['done', person.id, person.merchantId, requestId],
      where,
    );
  }
  return response;
}
