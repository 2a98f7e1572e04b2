// What a call left behind in the database, and the proof that a refused one left nothing but its entry in the audit log.
import assert from 'node:assert/strict';
import type { Database } from '../../src/db/database.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { MerchantId } from '../../src/domain/ids.ts';
import { assertError } from '../api/answers.ts';
import type { ApiAnswer } from '../support/api.ts';
import type { TestPerson } from '../support/people.ts';
import type { Sample } from './samples.ts';
import type { Headers, World } from './world.ts';

/** A digest of the rows of every table, by table. */
export type Dump = Readonly<Record<string, string>>;

type Table = { readonly name: string; readonly of_merchants: boolean };

const TABLES = `
  SELECT t.table_name AS name, bool_or(c.column_name = 'merchant_id') AS of_merchants
  FROM information_schema.tables t JOIN information_schema.columns c USING (table_schema, table_name)
  WHERE t.table_schema = 'public' AND t.table_type = 'BASE TABLE'
  GROUP BY t.table_name ORDER BY t.table_name`;

async function dump(db: Database, ofTable: (table: Table) => string | null): Promise<Dump> {
  const { rows: tables } = await db.pool.query<Table>(TABLES);
  const parts = tables.flatMap((table) => {
    const condition = ofTable(table);
    if (condition === null) return [];
    // When a key or a session was last used is noted to the minute, by calls that are refused too.
    return [
      `SELECT '${table.name}' AS name, count(*) || ' ' || coalesce(md5(string_agg(r, ' ' ORDER BY r)), '') AS digest
       FROM (SELECT (to_jsonb(x) - 'last_used_at')::text AS r FROM ${table.name} x WHERE ${condition}) rows`,
    ];
  });
  const { rows } = await db.pool.query<{ name: string; digest: string }>(parts.join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** All there is but the audit log. */
function dumpWithoutAudit(db: Database): Promise<Dump> {
  return dump(db, ({ name }) => (name === 'audit_entries' ? null : 'true'));
}

/** All there is, the audit log too, but for what is this merchant's and for failed attempts to prove who one is. */
export function dumpOfOthers(db: Database, merchantId: MerchantId): Promise<Dump> {
  return dump(db, ({ name, of_merchants: isOfMerchants }) => {
    if (name === 'proof_counters') return null;
    return isOfMerchants ? `merchant_id IS DISTINCT FROM '${merchantId}'` : 'true';
  });
}

export type AuditRow = Readonly<Record<string, unknown>> & { readonly outcome: string };

/** Entries made after the one with this id, oldest first. */
export async function auditAfter(db: Database, lastId: string): Promise<AuditRow[]> {
  const { rows } = await db.pool.query<AuditRow>(
    `SELECT merchant_id, user_id, api_key_id, action, outcome, subject_id, after, request_id
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
  /** Whose session it comes with, which the audit log then names; null: nobody's. */
  readonly person: TestPerson | null;
  /** `permission_denied` unless it is said. */
  readonly code?: ErrorCode;
  /** What the failure of the test names. */
  readonly why: string;
};

/** Fails unless the call is refused, changes nothing, and is in the audit log exactly if somebody is known to have made it. */
export async function assertRefused({ house, published, send }: World, attempt: Attempt): Promise<ApiAnswer> {
  const { operationId, sample, person, code = 'permission_denied' } = attempt;
  const where = `${operationId} ${attempt.why}`;
  const [before, lastId] = [await dumpWithoutAudit(house.db), await lastAuditId(house.db)];
  const answer = await send(operationId, sample, attempt.headers);
  assert.ok(answer.status >= 400, `${where}: was let in, ${answer.status}`);
  assertError(answer, code);
  assert.deepEqual(await dumpWithoutAudit(house.db), before, `${where}: changed something`);
  const entries = await auditAfter(house.db, lastId);
  if (person === null) {
    assert.deepEqual(entries, [], where);
    return answer;
  }
  const { method, path } = published.find(operationId);
  const { reason } = (entries[0]?.['after'] ?? {}) as { readonly reason?: string };
  assert.match(reason ?? '', /\S/, `${where}: the audit log says why`);
  assert.deepEqual(
    entries,
    [
      {
        merchant_id: person.merchantId,
        user_id: person.id,
        api_key_id: null,
        action: `${method} ${path.replace('{id}', ':id')}`,
        outcome: 'refused',
        subject_id: sample.id ?? null,
        after: { reason },
        request_id: answer.headers.get('malipo-request-id'),
      },
    ],
    where,
  );
  return answer;
}

/** Fails unless the call succeeds and, where it changes something in a session, is in the audit log. */
export async function assertLetIn({ house, published, send }: World, attempt: Attempt): Promise<ApiAnswer> {
  const { operationId, sample, headers, person } = attempt;
  const lastId = await lastAuditId(house.db);
  const answer = await send(operationId, sample, headers);
  const where = `${operationId} ${attempt.why}: ${answer.status} ${answer.text}`;
  assert.ok(answer.status >= 200 && answer.status < 300, where);
  if (person === null || published.find(operationId).method === 'GET') return answer;
  const requestId = answer.headers.get('malipo-request-id');
  const entries = await auditAfter(house.db, lastId);
  assert.ok(entries.length > 0, `${where}: is not in the audit log`);
  for (const entry of entries) {
    assert.deepEqual(
      [entry.outcome, entry['user_id'], entry['merchant_id'], entry['request_id']],
      ['done', person.id, person.merchantId, requestId],
      where,
    );
  }
  return answer;
}
