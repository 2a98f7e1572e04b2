// The removal of old records: each kind by its own setting.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '../../src/db/platform/database.ts';
import { REAL_CLOCKS, type Clocks } from '../../src/domain/clocks.ts';
import { newId } from '../../src/domain/ids.ts';
import { RETAINED_TABLES, retainedSince, RETENTION, type RetainedTable } from '../../src/domain/retention.ts';
import { purgeExpiredRecords } from '../../src/operations/purge-expired-records.ts';
import { insertOperatorQuery } from '../../src/db/payments/operator-message.ts';
import { insertPayeeName } from '../../src/db/payments/payee-name.ts';
import { STAFF_PROPOSAL_LIFE_MS } from '../../src/domain/accounts/staff-proposal.ts';
import { recoveryToken } from '../support/staff.ts';
import { makePayout, makeShop } from './payments/payout-rows.ts';
import { countRows, makeCollection, makeMember, makeMerchant, oneRow } from './rows.ts';
import { useDatabasePerCase } from './use-database.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The durations that the settings of these days give. */
function keptFor(days: Readonly<Record<RetainedTable, number>>): Clocks {
  const changes = RETAINED_TABLES.map((table) => [RETENTION[table], days[table] * DAY]);
  return { ...REAL_CLOCKS, ...(Object.fromEntries(changes) as Partial<Clocks>) };
}

describe('the removal of old records', () => {
  const db = useDatabasePerCase();

  /** Stores a row that came, or ended, at this time. */
  const store: Readonly<Record<RetainedTable, (at: Date) => Promise<unknown>>> = {
    async idempotency_keys(at) {
      const values = [await makeMerchant(db), newId('req'), Buffer.alloc(32), at];
      return db.pool.query("INSERT INTO idempotency_keys VALUES ($1, $2, $3, 202, '{}', $4)", values);
    },
    async operator_callbacks(at) {
      const { id } = await makeCollection(db, await makeMerchant(db));
      return db.pool.query(
        `INSERT INTO operator_callbacks (operator, payment_id, body, content_type, source_address, received_at)
         VALUES ('mtn-momo', $1, '{}', '', '127.0.0.1', $2)`,
        [id, at],
      );
    },
    async operator_exchanges(at) {
      const merchantId = await makeMerchant(db);
      const { id } = await makeCollection(db, merchantId);
      return db.pool.query(
        `INSERT INTO operator_exchanges (merchant_id, payment_id, kind, started_at, duration_ms, outcome)
         VALUES ($1, $2, 'send', $3, 12, 'accepted')`,
        [merchantId, id, at],
      );
    },
    async operator_queries(at) {
      const merchantId = await makeMerchant(db);
      const { id } = await makeCollection(db, merchantId);
      const query = { id: randomUUID(), askedAt: at, seenMessageId: 0n };
      return insertOperatorQuery(db, { kind: 'collection', id, merchantId }, query);
    },
    async payee_names(at) {
      const { id, merchantId } = await makePayout(db, await makeShop(db, 1000n), 'queued');
      // Those that this takes are none of the test's.
      await db.pool.query('DELETE FROM idempotency_keys WHERE merchant_id = $1', [merchantId]);
      return insertPayeeName(db, { kind: 'payout', id, merchantId }, { name: 'JANE NAKATO', askedAt: at });
    },
    async api_requests(at) {
      return db.pool.query(
        `INSERT INTO api_requests (id, merchant_id, api_key_id, method, route, path, status, duration_ms, is_repeat, created_at)
         VALUES ($1, $2, $3, 'GET', '/', '/', 200, 1, false, $4)`,
        [newId('req'), newId('mer'), newId('key'), at],
      );
    },
    async sessions(at) {
      const merchantId = await makeMerchant(db);
      const values = [newId('ses'), randomBytes(32), merchantId, await makeMember(db, merchantId, ['viewer']), at];
      return db.pool.query(
        `INSERT INTO sessions (id, token_sha256, merchant_id, user_id, created_at, last_used_at, verified_at, expires_at)
         SELECT $1, $2, $3, $4, opened, opened, opened, $5 FROM (SELECT $5::timestamptz - interval '7 days' AS opened) t`,
        values,
      );
    },
    async recoveries(at) {
      const userId = await makeMember(db, await makeMerchant(db), ['viewer']);
      const { email } = await oneRow<{ email: string }>(db, 'SELECT email FROM users WHERE id = $1', [userId]);
      return recoveryToken(db, email, new Date(at.getTime() - STAFF_PROPOSAL_LIFE_MS));
    },
    attempt_counters: (at) =>
      db.pool.query('INSERT INTO attempt_counters VALUES ($1, 1, $2)', [`person/${newId('usr')}`, at]),
  };

  const rowsLeft = async () =>
    Object.fromEntries(
      await Promise.all(RETAINED_TABLES.map(async (table) => [table, await countRows(db, table)] as const)),
    );
  const each = (count: number) => Object.fromEntries(RETAINED_TABLES.map((table) => [table, count]));

  function purge(database: Database, clocks: Clocks, at: Date, limit = 2): Promise<number> {
    return purgeExpiredRecords(database, { retainedSince: retainedSince(clocks, at), endedBefore: at, limit });
  }

  it('removes in batches rows past the retention of their kind, and no younger ones', async () => {
    const at = new Date();
    const days = {
      idempotency_keys: 40,
      operator_callbacks: 10,
      operator_exchanges: 5,
      operator_queries: 10,
      payee_names: 6,
      api_requests: 4,
      sessions: 1,
      recoveries: 2,
      attempt_counters: 3,
    };
    const clocks = keptFor(days);
    for (const table of RETAINED_TABLES) {
      for (const hours of [-1, 1, 2, 3]) {
        await store[table](new Date(at.getTime() - clocks[RETENTION[table]] - hours * HOUR));
      }
    }
    assert.deepEqual(await rowsLeft(), each(4));
    assert.deepEqual(
      [await purge(db, clocks, at), await purge(db, clocks, at), await purge(db, clocks, at)],
      // Of requests twenty times as many at once: there are more of them.
      [19, 8, 0],
    );
    assert.deepEqual(await rowsLeft(), each(1));
  });

  it('by default keeps keys for 30 days and operators’ answers for 90, and removes ended rows at once', async () => {
    const at = new Date();
    const days = {
      ...{ idempotency_keys: 30, api_requests: 30 },
      ...{ operator_callbacks: 90, operator_exchanges: 90, operator_queries: 90, payee_names: 90 },
      ...{ sessions: 0, recoveries: 0, attempt_counters: 0 },
    };
    for (const table of RETAINED_TABLES) {
      for (const hours of [-1, 1]) await store[table](new Date(at.getTime() - days[table] * DAY - hours * HOUR));
    }
    assert.equal(await purge(db, REAL_CLOCKS, at, 10), RETAINED_TABLES.length);
    assert.deepEqual(await rowsLeft(), each(1));
  });
});
