// A database is for one environment, which its first migration writes down: nothing of the other environment runs on it.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../src/settings/config.ts';
import { type Database } from '../../src/db/platform/database.ts';
import { findEnvironment } from '../../src/db/platform/deployment.ts';
import { migrate } from '../../src/db/platform/migrate.ts';
import type { DatabaseUrls } from '../../src/engines/postgres/server.ts';
import { checkAccount, checkEnvironment } from '../../src/server/check-database.ts';
import { prepareDatabase } from '../../src/server/prepare-database.ts';
import { createTestDatabase, postgres, testLog, openAt } from '../support/engines.ts';
import { openTcpLine } from '../support/tcp-line.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { queryAt } from '../support/one-client.ts';

describe('a database', () => {
  const opened: Database[] = [];
  let name: string;
  let urls: DatabaseUrls;

  beforeEach(async () => {
    name = `stamped_${randomBytes(6).toString('hex')}`;
    urls = await (await postgres()).ensureAccounts(name);
  });
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.close();
    await queryAt((await postgres()).adminUrl, `DROP DATABASE ${name}`);
  });

  function open(url: string): Database {
    const db = openAt(url, { poolSize: 2 });
    opened.push(db);
    return db;
  }
  const check = async (url: string, environment: 'test' | 'live') => {
    const db = open(url);
    await checkEnvironment(db, environment, testLog);
    await checkAccount(db, environment, testLog);
  };

  for (const [own, other] of [
    ['test', 'live'],
    ['live', 'test'],
  ] as const) {
    it(`that was migrated for ${own} serves ${own}, and neither serves ${other} nor is migrated for it`, async () => {
      assert.notEqual((await prepareDatabase(urls.ownerUrl, own)).length, 0);
      await check(urls.applicationUrl, own);
      const refusal = {
        name: 'Error',
        message: new RegExp(`is ${other}, and the database is for the ${own} environment`),
      };
      await assert.rejects(check(urls.applicationUrl, other), refusal);
      await assert.rejects(prepareDatabase(urls.ownerUrl, other), refusal);
      assert.deepEqual(await prepareDatabase(urls.ownerUrl, own), []);
      assert.equal(await findEnvironment(open(urls.ownerUrl)), own);
    });
  }

  it('serves nobody before it was migrated, or before it was migrated for an environment', async () => {
    await assert.rejects(check(urls.applicationUrl, 'test'), /is not prepared: run `npm run migrate`/);
    await migrate(urls.ownerUrl);
    await assert.rejects(check(urls.applicationUrl, 'test'), /is not prepared: run `npm run migrate`/);
  });

  it('of live serves no account that could switch its rules off', async () => {
    await prepareDatabase(urls.ownerUrl, 'live');
    const needless = 'the account has more rights than the application needs:';
    await assert.rejects(check(urls.ownerUrl, 'live'), new RegExp(`${needless} .*ownership of .*; [0-9]+ more`));
    await assert.rejects(check((await postgres()).urlFor(name), 'live'), new RegExp(`${needless} SUPERUSER`));
  });

  it('is waited for while it is unavailable, and a refused log-in is not', async () => {
    await prepareDatabase(urls.ownerUrl, 'test');
    const line = await openTcpLine(urls.applicationUrl);
    try {
      await line.cut();
      let isOver = false;
      const checked = check(line.url, 'test').then(() => (isOver = true));
      await sleep(100);
      assert.equal(isOver, false);
      await line.mend();
      await checked;
      const wrong = urls.applicationUrl.replace(/:[^:@]+@/, ':wrong@');
      await assert.rejects(check(wrong, 'test'), /password authentication failed/);
    } finally {
      // Its connections have to end before the database is dropped.
      for (const db of opened.splice(0)) await db.close();
      await line.cut();
    }
  });
});

describe('a server', () => {
  const testEnv = useTestEnvironment({ startsServer: false });

  it('does not start on a database of the other environment', async () => {
    const database = await createTestDatabase();
    try {
      await database.db.pool.query(
        "SET session_replication_role = replica; UPDATE deployment SET environment = 'live'; RESET session_replication_role",
      );
      await assert.rejects(testEnv.startServer({ MALIPO_DATABASE_URL: database.url }), ConfigError);
    } finally {
      await database.drop();
    }
  });
});
