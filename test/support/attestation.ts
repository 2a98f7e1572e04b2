// The attestation keys of the tests, and rows that a test changes by hand and the service is to take for its own.
import { createSecretKey, randomBytes } from 'node:crypto';
import type { QueryResult, QueryResultRow } from 'pg';
import { ATTESTED_TABLES, attestRow, listAttestedKeys, verifyRow } from '../../src/db/accounts/attested-rows.ts';
import type { Database } from '../../src/db/platform/database.ts';
import { createRowAttestor, type RowAttestor } from '../../src/security/row-attestation.ts';
import type { KeyRing } from '../../src/security/sealing.ts';

const KEY = randomBytes(32);
const NAME = 'test';

/** As the setting of a server that is to believe the rows that tests write. */
export const ATTESTATION_KEYS = `${NAME}:${KEY.toString('base64')}`;

/** The same keys. */
export const ATTESTATION_RING: KeyRing = [{ name: NAME, key: createSecretKey(KEY) }];

export const testAttestor = attestorOf('test');

export function attestorOf(environment: 'test' | 'live'): RowAttestor {
  return createRowAttestor({ environment, keyRing: ATTESTATION_RING, report: () => undefined });
}

/** Attests every row that is not, as if a process of the service had written all of them. */
export async function attestAll(db: Database, attestor: RowAttestor = testAttestor): Promise<void> {
  for (const table of ATTESTED_TABLES) {
    for (const key of await listAttestedKeys(db, table, null, 10_000)) {
      if ((await verifyRow({ ...db, attestor }, table, key)) === 'attested') continue;
      await db.withTransaction((tx) => attestRow({ ...tx, attestor }, table, key));
    }
  }
}

/** Runs the statement as a superuser, and has what it wrote attested. */
export async function rewrite<Row extends QueryResultRow>(
  db: Database,
  sql: string,
  values: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  const result = await db.pool.query<Row>(sql, [...values]);
  await attestAll(db);
  return result;
}
