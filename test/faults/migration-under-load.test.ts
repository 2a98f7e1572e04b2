// A migration of a table that a report holds: payments are accepted and carried out meanwhile.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { REPORTS } from '../../src/db/platform/access.ts';
import { migrate } from '../../src/db/platform/migrate.ts';
import { readSchemaFiles } from '../../src/db/platform/schema-files.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { call } from '../support/api.ts';
import { createTestDatabase, postgres, runFolder, type TestDatabase } from '../support/engines.ts';
import { pay, untilState } from '../support/payments.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const PAYMENTS = 10;

describe('a migration that waits behind a long transaction of the reports', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  const testEnv = useTestEnvironment(() => ({ database }));
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(runFolder(), 'schema-'));
    await cp(join(findProjectRoot(), 'src/db/schema'), folder, { recursive: true });
    const last = (await readSchemaFiles()).at(-1)?.name ?? '';
    const change = 'ALTER TABLE payments ADD COLUMN made_up text';
    await writeFile(join(folder, '900-made-up.sql'), `-- oldest servers: ${last}\n${change};\n`);
  });
  after(() => rm(folder, { recursive: true }));

  it('stops no payment, and neither does the column that it adds in the end', async () => {
    const { pathname } = new URL(database.url);
    const reports = new Client({ connectionString: (await postgres()).urlFor(pathname.slice(1), REPORTS) });
    await reports.connect();
    const lines: string[] = [];
    const short = { lockTimeoutMs: 200, pauseMs: 100, longestPauseMs: 100 };
    let migrated: Promise<string[]> | undefined;
    try {
      await reports.query('BEGIN');
      await reports.query('SELECT count(id) FROM payments');
      migrated = migrate(database.ownerUrl, { folder, ...short, report: (line) => void lines.push(line) });
      await eventually('the migration to wait', () => lines.length > 0);
      // The report holds its lock until all of them are paid.
      const payments = await Promise.all(Array.from({ length: PAYMENTS }, () => pay(testEnv, '000')));
      for (const payment of payments) await untilState(testEnv, payment, 'succeeded');
      await reports.query('COMMIT');
    } finally {
      await reports.end();
    }
    assert.deepEqual(await migrated, ['900-made-up.sql']);
    assert.ok(lines.every((line) => line.startsWith('900-made-up.sql: ')));
    // The earlier servers work on.
    assert.equal((await call(testEnv.baseUrl, 'GET', '/readyz')).json['status'], 'ready');
    await untilState(testEnv, await pay(testEnv, '000'), 'succeeded');
  });
});
