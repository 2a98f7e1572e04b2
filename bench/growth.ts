// What the work of the service costs beside many payments: the same calls in a database with few and in one with many, in turns.
import { randomUUID } from 'node:crypto';
import type { ApiKey } from '../src/db/accounts/api-key.ts';
import type { Database } from '../src/db/platform/database.ts';
import { acceptCollections } from '../src/db/payments/collection-acceptance.ts';
import { findDueWork } from '../src/db/work/due-work.ts';
import { claimDeliveries, recordAttempts } from '../src/db/webhooks/delivery.ts';
import { claimUnstarted, markStarted } from '../src/db/work/work.ts';
import { claimLate } from '../src/db/work/work-checks.ts';
import type { Person } from '../src/domain/accounts/member.ts';
import { REAL_CLOCKS } from '../src/domain/clocks.ts';
import { lowestIdAt, type EndpointId, type UserId } from '../src/domain/ids.ts';
import type { Collection } from '../src/domain/payments/collection.ts';
import type { LedgerFault } from '../src/domain/payments/ledger-fault.ts';
import { coverageOf } from '../src/domain/payments/operator-catalogue.ts';
import { retainedSince } from '../src/domain/retention.ts';
import { WORK_KINDS } from '../src/domain/work.ts';
import { enrolMember } from '../src/operations/accounts/enrol-member.ts';
import { checkLedgerChanges } from '../src/operations/payments/check-ledger-changes.ts';
import { rebuildTotals } from '../src/db/payments/totals.ts';
import { recordTransition } from '../src/operations/payments/record-transition.ts';
import { purgeExpiredRecords } from '../src/operations/purge-expired-records.ts';
import { getOverview } from '../src/operations/get-overview.ts';
import { checkLedger, checkRecentPayments } from '../src/operations/payments/check-ledger.ts';
import { listCollections } from '../src/db/payments/collection.ts';
import { readServiceFigures } from '../src/operations/read-service-figures.ts';
import { createReleaseAttestor } from '../src/security/release-attestation.ts';
import { deliveredAtOnce, makeBacklog } from './backlog.ts';
import { findKey, KEY_RING, newAcceptance, startBenchDatabase, type BenchDatabase } from './bench-database.ts';
import { cpuMsOf } from './cpu.ts';
import { writeManyRows } from './many-rows.ts';
import { addEndpoint, addMerchant, UNUSED_PASSWORD_HASH } from './merchants.ts';
import { median, printTable } from './table.ts';

/** Where the databases are kept, so that a later run measures without filling them again. */
const KEPT_IN = process.env['BENCH_DATA_DIR'];
const MANY = Number(process.env['BENCH_PAYMENTS'] ?? 10_000_000);
const FEW = 10_000;
const CALLS = Number(process.env['BENCH_CALLS'] ?? 40);
const TOGETHER = 16;
/** Payers and amounts come in no order. */
const SPREAD = 7919;
const PAGE = 50;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HELD_BACK_MS = 600_000;
// As a server with memory has it, and nothing beside what is measured.
const SETTINGS = {
  shared_buffers: '4GB',
  max_wal_size: '4GB',
  ...{ wal_level: 'minimal', max_wal_senders: '0' },
  autovacuum: 'off',
};

type Filled = {
  readonly db: Database;
  /** With the settings of connections that claim. */
  readonly queues: Database;
  readonly payments: number;
  readonly key: ApiKey;
  readonly makerId: UserId;
  readonly endpointId: EndpointId;
};

/** Of each: what it is, one call of it, and what comes before each call and is not measured. */
type Work = {
  readonly name: string;
  readonly prepare?: (filled: Filled) => Promise<unknown>;
  readonly run: (filled: Filled) => Promise<unknown>;
  /** Its calls are made over the connection that claims. */
  readonly claims?: true;
  /** What comes after each call and is not measured. */
  readonly after?: (filled: Filled) => Promise<unknown>;
  /** What comes once before all of its calls. */
  readonly before?: (filled: Filled) => Promise<unknown>;
  /** It reads all that was ever written, so it may take as many times as long. */
  readonly readsHistory?: true;
};

/** Of one call, the median. */
type Cost = {
  readonly ms: number;
  /** Of the process of PostgreSQL that carried it out: it says more than the time where other work has part of the machine. */
  readonly cpuMs: number;
  /** Pages of 8 kB of tables and indexes that were looked at. */
  readonly pages: number;
  /** Those of them that were not in PostgreSQL’s memory. */
  readonly pagesRead: number;
};

export async function benchGrowth(): Promise<void> {
  const bench = await startBenchDatabase({ settings: SETTINGS, keptIn: KEPT_IN });
  const few = await filledWith(bench, 'few', FEW);
  const many = await filledWith(bench, 'many', MANY);
  const lines: string[][] = [];
  for (const work of WORK) {
    const [ofFew, ofMany] = await measure(work, [few, many]);
    const times = (['ms', 'cpuMs'] as const).flatMap((time) => [
      ...[ofFew, ofMany].map((cost) => cost[time].toFixed(2)),
      (ofMany[time] / ofFew[time]).toFixed(2),
    ]);
    const pages = [ofFew.pages, ofMany.pages, ofMany.pagesRead].map((count) => count.toFixed(0));
    lines.push([work.name, ...times, ...pages]);
    process.stderr.write(`${work.name}: ${times.join(', ')}\n`);
  }
  const heads = ['ms', 'with many', 'ratio', 'CPU ms', 'with many', 'ratio', 'pages', 'with many', 'read'];
  printTable([['work', ...heads], ...lines]);
  process.stdout.write(`\n${FEW} payments and ${MANY}: ${await bytesEach(many)} bytes of the database for each\n`);
  for (const { db, queues } of [few, many]) await Promise.all([db.close(), queues.close()]);
  await bench.stop();
}

type Merchant = { readonly apiKey: string; readonly makerId: UserId; readonly endpointId: EndpointId };

/** A merchant with a year of so many payments, and what belongs to them; as an earlier run left them, if it did. */
async function filledWith(bench: BenchDatabase, name: string, payments: number): Promise<Filled> {
  const db = await bench.prepare(name);
  await db.pool.query(
    'CREATE TABLE IF NOT EXISTS bench_merchant AS SELECT null::jsonb AS merchant, 0 AS payments LIMIT 0',
  );
  const read = 'SELECT merchant FROM bench_merchant WHERE payments = $1';
  const { rows } = await db.pool.query<{ merchant: Merchant }>(read, [payments]);
  const merchant = rows[0]?.merchant ?? (await fill(db, payments));
  const { makerId, endpointId } = merchant;
  const queues = bench.open(name, { claimsFromQueues: true });
  return { db, queues, payments, key: await findKey(db, merchant.apiKey), makerId, endpointId };
}

async function fill(db: Database, payments: number): Promise<Merchant> {
  const { merchantId, apiKey } = await addMerchant(db);
  const person = { email: 'maker@shop.example', name: 'Maker', roles: ['maker'] as const, totpSecret: null };
  const login = { passwordHash: UNUSED_PASSWORD_HASH, keyRing: KEY_RING };
  const makerId = await enrolMember(db, { merchantId, ...person, ...login, at: new Date() });
  const endpoint = { merchantId, url: 'https://merchant.example/hook', keyRing: KEY_RING };
  const endpointId = await addEndpoint(db, endpoint);
  await writeManyRows(db, { merchantId, makerId, endpointId, payments });
  await db.withTransaction((tx) => rebuildTotals(tx, merchantId));
  await db.pool.query('VACUUM ANALYZE');
  const merchant = { apiKey, makerId, endpointId };
  await db.pool.query('INSERT INTO bench_merchant VALUES ($1, $2)', [merchant, payments]);
  return merchant;
}

/** The medians of both, measured in turns: each is the first of every other turn. */
async function measure(work: Work, both: readonly [Filled, Filled]): Promise<[Cost, Cost]> {
  const [few, many] = both;
  const costs = new Map<Filled, Cost[]>(both.map((filled) => [filled, []]));
  for (const filled of both) await work.before?.(filled);
  const calls = work.readsHistory ? 1 : CALLS;
  for (let call = 0; call <= calls; call++) {
    for (const filled of call % 2 === 0 ? both : both.toReversed()) {
      await work.prepare?.(filled);
      const cost = await costOf(work, filled);
      // The first call plans and warms up.
      if (call > 0 || work.readsHistory) costs.get(filled)?.push(cost);
      await work.after?.(filled);
    }
    if (work.readsHistory) break;
  }
  return [medianCost(costs.get(few) ?? []), medianCost(costs.get(many) ?? [])];
}

async function costOf(work: Work, filled: Filled): Promise<Cost> {
  const measured = work.claims ? { ...filled, db: filled.queues } : filled;
  const before = await pagesOf(filled, measured.db);
  const cpuMsBefore = cpuMsOf(before.pid);
  const startedMs = performance.now();
  await work.run(measured);
  const ms = performance.now() - startedMs;
  const cpuMs = cpuMsOf(before.pid) - cpuMsBefore;
  const after = await pagesOf(filled, measured.db);
  return { ms, cpuMs, pages: after.pages - before.pages, pagesRead: after.pagesRead - before.pagesRead };
}

function medianCost(costs: readonly Cost[]): Cost {
  const of = (figure: keyof Cost) => median(costs.map((cost) => cost[figure]));
  return { ms: of('ms'), cpuMs: of('cpuMs'), pages: of('pages'), pagesRead: of('pagesRead') };
}

/** What the connections to this database have looked at and read since the server started, and the process of the one that is measured. */
async function pagesOf(
  { db, queues }: Filled,
  measured: Database,
): Promise<Pick<Cost, 'pages' | 'pagesRead'> & { readonly pid: number }> {
  // Else they are added up once a second.
  for (const each of [db, queues]) await each.pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await measured.pool.query<{ pages: string; hits: string; pid: number }>(
    `SELECT pg_backend_pid() AS pid, pg_stat_get_db_blocks_fetched(oid) AS pages, pg_stat_get_db_blocks_hit(oid) AS hits
     FROM pg_database WHERE datname = current_database()`,
  );
  const { pages, hits, pid } = rows[0] ?? { pages: 0, hits: 0, pid: 0 };
  return { pages: Number(pages), pagesRead: Number(pages) - Number(hits), pid };
}

/**
 * Reads into PostgreSQL’s memory the indexes in which a new payment goes to any place: those that a service in work has there, because it
 * writes to all of their pages all the time.
 */
async function readIndexes({ db, key }: Filled): Promise<void> {
  for (const sql of INDEXES_WRITTEN_ANYWHERE) {
    await db.pool.query('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off');
    await db.pool.query(sql.replaceAll('$merchant', `'${key.merchantId}'`));
    await db.pool.query('RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_sort');
  }
}

const INDEXES_WRITTEN_ANYWHERE: readonly string[] = [
  "SELECT count(*) FROM (SELECT FROM payments WHERE kind = 'collection' AND merchant_id = $merchant ORDER BY phone, id DESC OFFSET 0) AS walked",
  "SELECT count(*) FROM (SELECT FROM payments WHERE kind = 'collection' AND merchant_id = $merchant ORDER BY amount_minor, id OFFSET 0) AS walked",
  'SELECT count(*) FROM (SELECT FROM idempotency_keys WHERE merchant_id = $merchant ORDER BY key OFFSET 0) AS walked',
  // A hash index is only looked things up in. One in thirty keys has all of its pages.
  `SELECT count(*) FROM payments AS one TABLESAMPLE BERNOULLI (3) CROSS JOIN LATERAL (
     SELECT FROM payments AS found WHERE lower(found.idempotency_key) = lower(one.idempotency_key) LIMIT 1) AS found`,
];

/** Tables and indexes of all that a payment leaves: events, deliveries, exchanges, entries of the ledger and of logs. */
async function bytesEach({ db, payments }: Filled): Promise<string> {
  const { rows } = await db.pool.query<{ size: string }>('SELECT pg_database_size(current_database()) AS size');
  return (Number(rows[0]?.size) / payments).toFixed(0);
}

/** Of each another payer and another amount. */
let collections = 0;

async function accept({ db, key }: Filled): Promise<Collection[]> {
  const acceptances = Array.from({ length: TOGETHER }, () => newAcceptance(key, (collections += SPREAD)));
  const accepted = await acceptCollections(db, acceptances);
  if (accepted.size < TOGETHER) throw new Error('a collection was not accepted');
  return acceptances.map(({ collection }) => collection);
}

/** Accepts collections, and has the operator say that they are paid. */
async function acceptPaid(filled: Filled): Promise<void> {
  const context = {
    db: filled.db,
    environment: 'test' as const,
    clocks: REAL_CLOCKS,
    coverage: coverageOf({ 'mtn-momo': null }),
    releases: createReleaseAttestor({ environment: 'test', keyRing: KEY_RING }),
  };
  for (const ref of await accept(filled)) {
    const at = new Date();
    const basis = { kind: 'paid', queriedAtMs: at.getTime() } as const;
    for (const transition of [{ kind: 'prompt_accepted' }, { kind: 'paid', operatorReceipt: randomUUID() }] as const)
      await recordTransition(context, { ref, transition, at, basis });
  }
}

async function checkChanges({ db }: Filled): Promise<void> {
  failOn(await checkLedgerChanges(db, new Date()));
}

function personOf({ key, makerId }: Filled): Person {
  const at = new Date();
  return {
    userId: makerId,
    merchantId: key.merchantId,
    merchantCurrency: 'UGX',
    roles: ['maker'],
    hasSecondFactor: true,
    lostSecondFactor: false,
    recoveredAt: null,
    secondFactorAt: at,
    verifiedAt: at,
  };
}

function listFrom(daysAgo: number) {
  return ({ db, key }: Filled): Promise<unknown> => {
    const before = lowestIdAt('col', Date.now() - daysAgo * DAY_MS);
    return listCollections(db, key.merchantId, { before }, PAGE);
  };
}

async function checkWholeLedger({ db }: Filled): Promise<void> {
  failOn(await checkLedger(db));
}

function failOn(faults: readonly LedgerFault[]): void {
  if (faults.length > 0) throw new Error(`the ledger does not add up: ${JSON.stringify(faults)}`);
}

const CLAIM = { limit: 100, graceMs: 0, leaseMs: HELD_BACK_MS, overdueMs: 0 };
const LIMITS = { perEndpoint: CLAIM.limit, endpointLimits: new Map(), perMerchant: CLAIM.limit };
const IN_FLIGHT = { byEndpoint: new Map(), byMerchant: new Map() };

type Claim<Row> = Required<Pick<Work, 'prepare'>> & {
  readonly claim: (queues: Database) => Promise<readonly Row[]>;
  readonly end: (queues: Database, claimed: readonly Row[]) => Promise<unknown>;
};

/** What is claimed does not stay so: the claims that come after it would pass over ever more rows. */
function claimOf<Row>(name: string, { prepare, claim, end }: Claim<Row>): Work {
  let claimed: readonly Row[] = [];
  return {
    name,
    prepare,
    claims: true,
    run: async ({ db }) => {
      claimed = await claim(db);
      if (claimed.length === 0) throw new Error(`${name}: none was there`);
    },
    after: ({ queues }) => end(queues, claimed),
  };
}

const OVERDUE_MS = 600_000;

const WORK: readonly Work[] = [
  { name: `${TOGETHER} collections accepted after a start`, run: accept },
  { name: `${TOGETHER} collections accepted in work`, before: readIndexes, run: accept },
  { name: 'the first page of collections', run: listFrom(0) },
  { name: 'a page of half a year ago', run: listFrom(183) },
  { name: 'the home page', run: (filled) => getOverview(filled.db, personOf(filled), 'Africa/Kampala', new Date()) },
  claimOf('new collections claimed', {
    prepare: accept,
    claim: (db) => claimUnstarted(db, 'collection', CLAIM),
    end: (db, started) =>
      markStarted(
        db,
        started.map((work) => ({ ...work, checkInMs: DAY_MS })),
      ),
  }),
  claimOf('100 deliveries claimed', {
    prepare: ({ db, key, endpointId }) =>
      makeBacklog(db, [{ merchantId: key.merchantId, endpointId }], { count: CLAIM.limit }),
    claim: (db) => claimDeliveries(db, { ...CLAIM, ...LIMITS, inFlight: IN_FLIGHT }),
    end: (db, claimed) =>
      recordAttempts(
        db,
        claimed.map(({ id }) => deliveredAtOnce(id)),
        OVERDUE_MS,
      ),
  }),
  { name: 'the work poll', claims: true, run: ({ db }) => findDueWork(db) },
  {
    name: 'late work of all kinds looked for',
    claims: true,
    run: async ({ db }) => {
      for (const kind of WORK_KINDS) await claimLate(db, kind, CLAIM);
    },
  },
  {
    name: 'the figures of the service',
    run: ({ db }) => readServiceFigures(db, { maxCount: 10_000, maxPerMerchant: 2500, maxAgeMs: 240_000 }),
  },
  {
    name: 'a sweep that finds nothing to delete',
    run: ({ db }) => {
      const at = new Date(Date.now() - 10 * 365 * DAY_MS);
      return purgeExpiredRecords(db, { retainedSince: retainedSince(REAL_CLOCKS, at), endedBefore: at, limit: 1000 });
    },
  },
  {
    name: 'the check of the last hour’s payments',
    run: ({ db }) => checkRecentPayments(db, new Date(Date.now() - HOUR_MS)),
  },
  { name: 'the first ledger check of all', readsHistory: true, run: checkChanges },
  { name: `the ledger check after ${TOGETHER} payments`, prepare: acceptPaid, run: checkChanges },
  { name: 'the check of the whole ledger', readsHistory: true, run: checkWholeLedger },
];
