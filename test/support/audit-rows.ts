// The audit entries of a request.
import assert from 'node:assert/strict';
import type { ApiResponse } from './api.ts';
import type { TestEnvironment } from './test-environment.ts';

export type AuditRow = {
  readonly user_id: string | null;
  readonly action: string;
  readonly outcome: string;
  readonly subject_id: string | null;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
  readonly address: string | null;
  readonly request_id: string | null;
};

/** The entries that one request made in the audit log, in order. */
export async function auditRows({ db }: Pick<TestEnvironment, 'db'>, response: ApiResponse): Promise<AuditRow[]> {
  const { rows } = await db.pool.query<AuditRow>(
    `SELECT user_id, action, outcome, subject_id, before, after, host(address) AS address, request_id
     FROM audit_entries WHERE request_id = $1 ORDER BY id`,
    [response.headers.get('malipo-request-id')],
  );
  return rows;
}

/** Fails unless the request left exactly this one entry in the audit log. */
export async function assertAudited(
  testEnv: Pick<TestEnvironment, 'db'>,
  response: ApiResponse,
  expected: Partial<AuditRow>,
): Promise<AuditRow> {
  const rows = await auditRows(testEnv, response);
  assert.equal(rows.length, 1, `entries of ${response.status} ${response.text}: ${JSON.stringify(rows)}`);
  const [row] = rows;
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(row![name as keyof AuditRow], value, name);
  assert.equal(row!.address, '127.0.0.1');
  return row!;
}
