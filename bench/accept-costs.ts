// What the indexes, triggers and constraints on the way cost PostgreSQL when a collection is accepted: the same statement in
// databases that lack some of them, in turns within one run.
import type { ApiKey } from '../src/db/accounts/api-key.ts';
import type { Database } from '../src/db/platform/database.ts';
import { acceptCollections } from '../src/db/payments/collection-acceptance.ts';
import { addKey, newAcceptance, startBenchDatabase, type BenchDatabase } from './bench-database.ts';
import { cpuMsOf } from './cpu.ts';
import { median, printTable } from './table.ts';

const COUNT = Number(process.env['BENCH_COUNT'] ?? 2000);
/** Accepted in one statement; under load it is as many as arrive at about the same time. */
const TOGETHER = Number(process.env['BENCH_TOGETHER'] ?? 1);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const TABLES = `('payments'::regclass, 'work'::regclass, 'idempotency_keys'::regclass)`;

/** Each: what is left out, and a query for the statements that do so. */
const VARIANTS: readonly (readonly [name: string, sql: string])[] = [
  ['nothing', `SELECT 'SELECT 1' AS sql`],
  ...constraints('checks of rows', 'c'),
  ...constraints('foreign keys', 'f'),
  ['checks by triggers', triggers(`tgname LIKE '%check%'`)],
  ['totals, figures and live updates (triggers)', triggers(`tgname LIKE '%_created' AND tgname NOT LIKE '%check%'`)],
  ['indexes for lists and searches', indexes(`LIKE 'payments_list%'`)],
  ['indexes for work and housekeeping', indexes(`NOT LIKE 'payments_list%'`)],
];

function constraints(name: string, type: 'c' | 'f'): [[string, string]] {
  return [
    [
      name,
      `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS sql FROM pg_constraint
       WHERE conrelid IN ${TABLES} AND contype = '${type}'`,
    ],
  ];
}

function triggers(condition: string): string {
  return `SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) AS sql FROM pg_trigger
          WHERE tgrelid IN ${TABLES} AND NOT tgisinternal AND tgtype & 4 = 4 AND ${condition}`;
}

function indexes(condition: string): string {
  return `SELECT format('DROP INDEX %s', i.indexrelid::regclass) AS sql FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
          WHERE i.indrelid IN ${TABLES} AND c.relname ${condition}
            AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)`;
}

export async function benchAcceptCosts(): Promise<void> {
  // Only what the statement itself costs.
  const settings = { fsync: 'off', synchronous_commit: 'off', autovacuum: 'off' };
  const bench = await startBenchDatabase({ settings });
  const source = await bench.prepare('malipo');
  const key = await addKey(source);
  await source.close();
  const databases: { name: string; parts: number; db: Database; costsMs: number[] }[] = [];
  for (const [index, [name, sql]] of VARIANTS.entries()) {
    const db = await copyWithout(bench, `variant_${index}`, sql);
    databases.push({ name, ...db, costsMs: [] });
  }
  for (const { db } of databases) await accept(db, key);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const { db, costsMs } of databases) costsMs.push(await accept(db, key));
  }
  report(databases);
  for (const { db } of databases) await db.close();
  await bench.stop();
}

async function copyWithout(bench: BenchDatabase, name: string, sql: string): Promise<{ db: Database; parts: number }> {
  await bench.copy('malipo', name);
  const db = bench.open(name);
  const { rows } = await db.pool.query<{ sql: string }>(sql);
  for (const row of rows) await db.pool.query(row.sql);
  return { db, parts: rows.length };
}

/** CPU milliseconds of the connection's process for each collection. */
async function accept(db: Database, key: ApiKey): Promise<number> {
  const { rows } = await db.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const pid = rows[0]?.pid ?? 0;
  const before = cpuMsOf(pid);
  for (let first = 0; first < COUNT; first += TOGETHER) {
    const acceptances = Array.from({ length: TOGETHER }, (_, index) => newAcceptance(key, first + index));
    const accepted = await acceptCollections(db, acceptances);
    if (accepted.size < TOGETHER) throw new Error('a collection was not accepted');
  }
  return (cpuMsOf(pid) - before) / COUNT;
}

function report(databases: readonly { name: string; parts: number; costsMs: readonly number[] }[]): void {
  const [whole] = databases;
  const rows = databases.map(({ name, parts, costsMs }) => {
    const spared = costsMs.map((cost, round) => (whole?.costsMs[round] ?? 0) - cost);
    return [name, whole?.name === name ? '' : String(parts), median(costsMs).toFixed(3), median(spared).toFixed(3)];
  });
  printTable([['left out', 'parts', 'CPU ms each', 'less'], ...rows]);
}
