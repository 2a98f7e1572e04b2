// What `npm run check` lets a migration do, and what it refuses because payments would wait for it.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { findMigrationFaults } from '../../tools/migration-rules.ts';

const BASE = { '190-housekeeping.sql': 'CREATE TABLE housekeeping (id int)' };
const HEADER = '-- oldest servers: 190-housekeeping.sql\n';
const NAME = '210-made-up.sql';

const faultsOf = (sql: string, header = HEADER) => findMigrationFaults({ ...BASE, [NAME]: header + sql });
const alone = (sql: string) => faultsOf(sql, `${HEADER}-- runs: outside of a transaction\n`);
const batch = (sql: string) => faultsOf(sql, `${HEADER}-- runs: in batches\n`);

describe('a migration', () => {
  for (const sql of [
    `CREATE TABLE notes (id text COLLATE "C" PRIMARY KEY, payment_id text REFERENCES payments, CHECK (id ~ '^a;b$'));
     CREATE INDEX notes_by_payment ON notes (payment_id); COMMENT ON TABLE notes IS 'Made up; and said so.';
     ALTER TABLE notes ALTER COLUMN id TYPE varchar; INSERT INTO notes (id) VALUES ('a'), ('b')`,
    'ALTER TABLE payments ADD COLUMN note text, ADD COLUMN tags text[]',
    `ALTER TABLE payments ADD COLUMN note text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN seen_at timestamptz DEFAULT now()`,
    "ALTER TABLE payments ADD CONSTRAINT payments_note CHECK (note <> ALL (ARRAY['a', 'b'])) NOT VALID",
    'ALTER TABLE public.payments ADD CONSTRAINT payments_by FOREIGN KEY (made_by) REFERENCES users (id) NOT VALID',
    'ALTER TABLE payments VALIDATE CONSTRAINT payments_note; ALTER TABLE payments VALIDATE CONSTRAINT payments_by',
    'ALTER TABLE payments ADD CONSTRAINT payments_once UNIQUE USING INDEX payments_once',
    'ALTER TABLE payments ALTER COLUMN note DROP NOT NULL, DROP CONSTRAINT payments_note, DROP COLUMN seen_at',
    `CREATE OR REPLACE FUNCTION check_note() RETURNS trigger LANGUAGE plpgsql AS $body$
     BEGIN UPDATE payments SET note = ''; RETURN NEW; END $body$;
     CREATE TRIGGER payments_note BEFORE UPDATE OF note ON payments FOR EACH ROW EXECUTE FUNCTION check_note();
     DROP TRIGGER payments_old ON payments; DROP FUNCTION check_old()`,
    '/* UPDATE payments; */ -- VACUUM FULL payments;\nDROP TABLE notes',
  ]) {
    it(`may: ${sql.slice(0, 90).replace(/\s+/g, ' ')}`, () => {
      assert.deepEqual(faultsOf(sql), []);
    });
  }

  it('may build and drop an index concurrently, and change rows in batches, each in a file of its own', () => {
    assert.deepEqual(
      alone('CREATE UNIQUE INDEX CONCURRENTLY payments_once ON payments (note)\n  WHERE note IS NOT NULL;'),
      [],
    );
    assert.deepEqual(alone('DROP INDEX CONCURRENTLY IF EXISTS payments_once'), []);
    const some = (limit: number) => `SELECT id FROM payments WHERE note IS NULL LIMIT ${limit}`;
    assert.deepEqual(batch(`UPDATE payments SET note = '' WHERE id IN (${some(1000)})`), []);
    assert.deepEqual(batch(`DELETE FROM payments WHERE id IN (${some(10_000)} FOR UPDATE)`), []);
    assert.match(batch(`DELETE FROM payments WHERE id IN (${some(10_001)})`).join(), /with a LIMIT of 10000 or less/);
    assert.match(batch("UPDATE payments SET note = ''").join(), /with a LIMIT/);
  });

  for (const [sql, remedy] of [
    ['CREATE INDEX payments_by_note ON payments (note)', 'build it CONCURRENTLY'],
    ['CREATE INDEX CONCURRENTLY payments_by_note ON payments (note)', 'build it CONCURRENTLY'],
    ['ALTER TABLE payments ADD CONSTRAINT payments_note CHECK (note > 0)', 'NOT VALID'],
    ['ALTER TABLE payments ADD CONSTRAINT payments_by FOREIGN KEY (made_by) REFERENCES users', 'NOT VALID'],
    ['ALTER TABLE payments ADD CHECK (note > 0) NOT VALID', 'with a name'],
    ['ALTER TABLE payments ADD CONSTRAINT payments_once UNIQUE (note)', ''],
    ['ALTER TABLE payments ADD COLUMN note text NOT NULL', 'a constant as its default'],
    ['ALTER TABLE payments ADD COLUMN note uuid DEFAULT gen_random_uuid()', 'a constant as its default'],
    ['ALTER TABLE payments ADD COLUMN note bigserial', 'a constant as its default'],
    ['ALTER TABLE payments ADD COLUMN note text CHECK (note > 0)', 'a constant as its default'],
    ['ALTER TABLE payments ADD COLUMN by text REFERENCES users', 'a constant as its default'],
    ['ALTER TABLE payments ADD COLUMN note text, ALTER COLUMN id TYPE varchar', 'add another column'],
    ['ALTER TABLE payments RENAME COLUMN note TO notes', 'add another column'],
    ['ALTER TABLE payments ALTER COLUMN note SET NOT NULL', 'IS NOT NULL) NOT VALID'],
    [
      'ALTER TABLE payments ADD CONSTRAINT c CHECK (true) NOT VALID; ALTER TABLE payments VALIDATE CONSTRAINT c',
      'validate in a file that does nothing else',
    ],
    ['ALTER TABLE payments DISABLE TRIGGER ALL', ''],
    ['ALTER TABLE payments DROP COLUMN note CASCADE', ''],
    ["UPDATE payments SET note = ''", 'in batches'],
    ['DELETE FROM payments', 'in batches'],
    ['INSERT INTO notes SELECT id FROM payments', ''],
    ['CREATE TABLE notes AS SELECT * FROM payments', ''],
    ['DO $$ BEGIN DELETE FROM payments; END $$', ''],
    ['LOCK TABLE payments', ''],
    ['TRUNCATE notes', ''],
    ['VACUUM FULL payments', ''],
    ['DROP TABLE notes CASCADE', ''],
    ['GRANT SELECT ON payments TO malipo_report', ''],
    ['SET lock_timeout = 0', ''],
    ['COMMIT', ''],
    ['/* a */ UPDATE /* b */ payments SET note = 1', 'in batches'],
  ] as const) {
    it(`may not: ${sql}`, () => {
      const faults = faultsOf(sql);
      assert.equal(faults.length, 1, faults.join('\n'));
      assert.match(faults[0] ?? '', /^210-made-up\.sql: no migration may /);
      assert.ok(faults[0]?.includes(remedy), faults[0]);
    });
  }

  it('may not change two tables that are in use, or do outside of a transaction what needs one', () => {
    const two = 'ALTER TABLE payments ADD COLUMN note text; ALTER TABLE users ADD COLUMN note text';
    assert.deepEqual(faultsOf(two), [`${NAME}: it changes several tables, which takes a file each: PAYMENTS, USERS`]);
    const index = 'CREATE INDEX CONCURRENTLY payments_by_note ON payments (note)';
    for (const sql of [`${index}; SELECT 1`, 'ALTER TABLE payments ADD COLUMN note text', index.replace(' ON', '\nON')])
      assert.equal(alone(sql).length, 1, sql);
  });

  it('says which servers may run beside it: those of a file that there is', () => {
    for (const header of ['', '-- oldest servers: 180-none.sql\n', '-- oldest servers: 220-after.sql\n'])
      assert.match(faultsOf('DROP TABLE notes', header).join(), /no line `-- oldest servers: FILE`/);
    assert.deepEqual(faultsOf('DROP TABLE notes', `-- oldest servers: ${NAME}\n`), []);
    assert.match(
      faultsOf('DROP TABLE notes', `${HEADER}-- runs: at night\n`).join(),
      /no way to run a file named at night/,
    );
    for (const name of ['2-x.sql', '1000-x.sql', '210_x.sql'])
      assert.match(findMigrationFaults({ ...BASE, [name]: 'DROP TABLE notes' }).join(), /three digits/);
  });

  it('is none of the files of the first release, whose folder has no fault', () => {
    const folder = join(findProjectRoot(), 'src/db/schema');
    const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
    assert.deepEqual(findMigrationFaults(Object.fromEntries(files) as Record<string, string>), []);
    assert.deepEqual(findMigrationFaults({ '150-ledger.sql': 'TRUNCATE payments' }), []);
  });
});
