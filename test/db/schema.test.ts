// The schema as the catalogue tells it: docs/schema.sql shows it, and each table and trigger says what it is for.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { schemaPage } from '../../tools/schema-page.ts';
import { useDatabase } from './use-database.ts';

describe('the schema', () => {
  const db = useDatabase();

  it('is docs/schema.sql, as npm run docs generates it', async () => {
    const client = await db.pool.connect();
    try {
      const expected = readFileSync(join(findProjectRoot(), 'docs/schema.sql'), 'utf8');
      assert.equal(await schemaPage(client), expected);
    } finally {
      client.release(true);
    }
  });

  for (const [what, query] of Object.entries({
    table: `SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') AND obj_description(oid, 'pg_class') IS NULL`,
    trigger: `SELECT tgname AS name FROM pg_trigger
      WHERE NOT tgisinternal AND obj_description(oid, 'pg_trigger') IS NULL`,
  })) {
    it(`has a comment on every ${what}`, async () => {
      assert.deepEqual((await db.pool.query(query)).rows, []);
    });
  }

  it('says of every trigger what it refuses', async () => {
    const { rows } = await db.pool.query<{ name: string }>(
      `SELECT tgname AS name FROM pg_trigger WHERE NOT tgisinternal AND obj_description(oid, 'pg_trigger') !~ '^Refuses\\M'`,
    );
    assert.deepEqual(rows, []);
  });
});
