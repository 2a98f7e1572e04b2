// What a claim, a mark and a record cost beside many deliveries, and what they read, whatever PostgreSQL knows of the table: before
// it was ever analysed, analysed before a backlog came, and analysed with the backlog. The same calls in a small database, in turns.
import { isDeepStrictEqual } from 'node:util';
import type { Database, Queryable } from '../src/db/platform/database.ts';
import {
  claimDeliveries,
  escalateDeliveries,
  recordAttempts,
  withholdDeliveries,
} from '../src/db/webhooks/delivery.ts';
import { claimUnstarted, markStarted } from '../src/db/work/work.ts';
import { lowestIdAt, type DeliveryId } from '../src/domain/ids.ts';
import { deliveredAtOnce, makeBacklog, type BacklogTarget } from './backlog.ts';
import { KEY_RING, startBenchDatabase } from './bench-database.ts';
import { addReceivers } from './merchants.ts';
import { median, printTable } from './table.ts';

const MANY = Number(process.env['BENCH_DELIVERIES'] ?? 30_000_000);
const FEW = 10_000;
const CALLS = Number(process.env['BENCH_CALLS'] ?? 20);
const ENDPOINTS = 50;
const BATCH = 100_000;
/** Of one endpoint, of each of the others, and of the last few together, which fail. */
const BACKLOG = { ofOne: 20_000, ofEachOther: 10, retrying: 2000, failingEndpoints: 5 } as const;
const CLAIMED = 32;

type Filled = { readonly db: Database; readonly deliveries: number; readonly targets: readonly BacklogTarget[] };
type Owed = { readonly pending: readonly DeliveryId[]; readonly retrying: readonly DeliveryId[] };

export async function benchQueues(): Promise<void> {
  // Autovacuum would analyse the tables at moments of its own.
  const bench = await startBenchDatabase({ settings: { autovacuum: 'off', fsync: 'off', max_wal_size: '256MB' } });
  // Nobody may be connected to the one that is copied.
  await (await bench.prepare('malipo')).close();
  await bench.copy('malipo', 'many');
  const open = (name: string) => bench.open(name, { claimsFromQueues: true });
  const both = [await fill(open('malipo'), FEW), await fill(open('many'), MANY)] as const;
  const lines: string[][] = [];
  const measured = async (moment: string): Promise<void> => {
    for (const work of WORK) lines.push([moment, work.name, ...(await measure(work, both))]);
  };
  for (const { db, targets } of both) await addBacklog(db, targets);
  await measured('never analysed');
  for (const { db } of both) await db.pool.query('VACUUM ANALYZE');
  await measured('analysed with the backlog');
  for (const { db } of both) await endBacklog(db);
  for (const { db } of both) await db.pool.query('VACUUM ANALYZE deliveries');
  for (const { db, targets } of both) await addBacklog(db, targets);
  await measured('analysed before the backlog came');
  const columns = ['ms', 'rows read', 'rows of whole tables'].flatMap((what) => [
    `${what}, ${FEW}`,
    `${what}, ${MANY}`,
  ]);
  printTable([['moment', 'work', ...columns], ...lines]);
  process.stdout.write(`\n${await sizesOf(both[1])}\n`);
  for (const { db } of both) await db.close();
  await bench.stop();
}

/** Delivered and dead-lettered deliveries of several merchants, without their events, as years would have left them. */
async function fill(db: Database, deliveries: number): Promise<Filled> {
  const urls = Array.from({ length: ENDPOINTS }, () => 'https://merchant.example/hook');
  const targets = await addReceivers(db, urls, KEY_RING);
  const client = await db.pool.connect();
  await client.query('SET session_replication_role = replica; SET synchronous_commit = off');
  for (let first = 1; first <= deliveries; first += BATCH) {
    const time = lowestIdAt('dlv', Date.now() - (deliveries - first)).slice('dlv_'.length, 'dlv_'.length + 10);
    await client.query(
      `INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, attempt_count, created_at, updated_at)
       SELECT 'dlv_' || $1 || lpad(n::text, 16, '0'), 'evt_' || $1 || lpad(n::text, 16, '0'), ($2::text[])[1 + n % $4],
         ($3::text[])[1 + n % $4], CASE WHEN n % 1000 = 0 THEN 'dead_lettered' ELSE 'delivered' END, 1, now(), now()
       FROM generate_series($5::integer, $6::integer) AS n`,
      [
        time,
        targets.map(({ endpointId }) => endpointId),
        targets.map(({ merchantId }) => merchantId),
        ENDPOINTS,
        first,
        Math.min(first + BATCH - 1, deliveries),
      ],
    );
    process.stderr.write(`\r${Math.min(first + BATCH - 1, deliveries)} of ${deliveries}   `);
  }
  process.stderr.write('\n');
  await client.query('RESET session_replication_role; RESET synchronous_commit');
  client.release();
  return { db, deliveries, targets };
}

/** A long backlog of one endpoint, and short ones of all others, of which some fail; and deliveries that workflows retry. */
async function addBacklog(db: Database, targets: readonly BacklogTarget[]): Promise<void> {
  await makeBacklog(db, targets.slice(0, 1), { count: BACKLOG.ofOne });
  await makeBacklog(db, targets.slice(1), { count: ENDPOINTS * BACKLOG.ofEachOther });
  await makeBacklog(db, targets.slice(-BACKLOG.failingEndpoints), { count: BACKLOG.retrying, state: 'retrying' });
  const failing = targets.slice(-BACKLOG.failingEndpoints).map(({ endpointId }) => endpointId);
  await db.pool.query('UPDATE endpoints SET failing_since = now() WHERE id = ANY($1)', [failing]);
}

async function endBacklog(db: Database): Promise<void> {
  for (const state of ['pending', 'retrying']) {
    await db.pool.query(
      `UPDATE deliveries SET state = 'delivered', attempt_count = 1, next_attempt_at = NULL WHERE state = '${state}'`,
    );
  }
  await db.pool.query(`DELETE FROM work WHERE kind = 'delivery'`);
}

type Work = { readonly name: string; readonly run: (db: Queryable, owed: Owed) => Promise<unknown> };
type Measured = { readonly ms: number[]; readonly read: number[]; scanned: number };

/** Medians of the time and of the rows of deliveries that were read, in turns; each call is undone. */
async function measure(work: Work, both: readonly Filled[]): Promise<string[]> {
  const results = new Map<Filled, Measured>(both.map((filled) => [filled, { ms: [], read: [], scanned: 0 }]));
  const owedBy = new Map<Filled, Owed>();
  for (const filled of both) owedBy.set(filled, await owedOf(filled.db));
  for (let call = 0; call <= CALLS; call++) {
    for (const [filled, result] of results) {
      // The first call warms up, and those of the other half have the plan for any values.
      const mode = call % 2 === 0 ? 'force_generic_plan' : 'force_custom_plan';
      await filled.db.pool.query(`SET plan_cache_mode = ${mode}`);
      const before = await readsOf(filled.db);
      const ms = await timedAndUndone(filled.db, (tx) =>
        work.run(tx, owedBy.get(filled) ?? { pending: [], retrying: [] }),
      );
      const after = await readsOf(filled.db);
      if (call === 0) continue;
      result.ms.push(ms);
      result.read.push(after.fetched - before.fetched);
      result.scanned += after.scanned - before.scanned;
    }
  }
  const all = [...results.values()];
  return [
    ...all.map(({ ms }) => median(ms).toFixed(2)),
    ...all.map(({ read }) => median(read).toFixed(0)),
    ...all.map(({ scanned }) => String(scanned)),
  ];
}

async function owedOf(db: Database): Promise<Owed> {
  const ids = async (state: string): Promise<DeliveryId[]> => {
    const sql = `SELECT id FROM deliveries WHERE state = '${state}' LIMIT 200`;
    return (await db.pool.query<{ id: DeliveryId }>(sql)).rows.map(({ id }) => id);
  };
  return { pending: await ids('pending'), retrying: await ids('retrying') };
}

async function timedAndUndone(db: Database, work: (tx: Queryable) => Promise<unknown>): Promise<number> {
  const undone = new Error('undone');
  let ms = Number.NaN;
  await db
    .withTransaction(async (tx) => {
      const startedMs = performance.now();
      await work(tx);
      ms = performance.now() - startedMs;
      throw undone;
    })
    .catch((error: unknown) => {
      if (!isDeepStrictEqual(error, undone)) throw error;
    });
  return ms;
}

/** Rows of deliveries that were fetched by an index, and read by scans of the whole table. */
async function readsOf(db: Database): Promise<{ readonly fetched: number; readonly scanned: number }> {
  await db.pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await db.pool.query<{ fetched: string; scanned: string }>(
    `SELECT idx_tup_fetch AS fetched, seq_tup_read AS scanned FROM pg_stat_user_tables WHERE relname = 'deliveries'`,
  );
  return { fetched: Number(rows[0]?.fetched), scanned: Number(rows[0]?.scanned) };
}

async function sizesOf({ db, deliveries }: Filled): Promise<string> {
  const { rows } = await db.pool.query<{ table: string; indexes: string }>(
    `SELECT pg_table_size('deliveries') AS table, pg_indexes_size('deliveries') AS indexes`,
  );
  const each = (bytes: string | undefined) => (Number(bytes) / deliveries).toFixed(0);
  return `${each(rows[0]?.table)} bytes of the table and ${each(rows[0]?.indexes)} of its indexes for each delivery`;
}

const CLAIM = { leaseMs: 1000, endpointLimits: new Map(), perMerchant: 1000 };
const IN_FLIGHT = { byEndpoint: new Map(), byMerchant: new Map() };
const claimOf = (limit: number): Work => ({
  name: `${limit} deliveries claimed`,
  run: (db) => claimDeliveries(db, { ...CLAIM, limit, perEndpoint: limit, inFlight: IN_FLIGHT }),
});

const OVERDUE_MS = 600_000;

const WORK: readonly Work[] = [
  claimOf(CLAIMED),
  claimOf(500),
  {
    name: `${CLAIMED} attempts recorded`,
    run: (db, { pending }) => recordAttempts(db, pending.slice(0, CLAIMED).map(deliveredAtOnce), OVERDUE_MS),
  },
  {
    name: '200 attempts recorded',
    run: (db, { pending }) => recordAttempts(db, pending.map(deliveredAtOnce), OVERDUE_MS),
  },
  { name: '10 deliveries escalated', run: (db) => escalateDeliveries(db, 10) },
  { name: 'deliveries to withhold looked for', run: (db) => withholdDeliveries(db, 500, new Date()) },
  {
    name: '100 deliveries claimed for workflows',
    run: (db) => claimUnstarted(db, 'delivery', { limit: 100, graceMs: 0, leaseMs: 1000 }),
  },
  {
    name: '100 workflows of deliveries marked',
    run: (db, { retrying }) => {
      const dueAt = new Date();
      return markStarted(
        db,
        retrying.slice(0, 100).map((id) => ({ id, dueAt, checkInMs: 1000 })),
      );
    },
  },
];
