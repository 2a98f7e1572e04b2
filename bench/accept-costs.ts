// What the indexes, triggers and constraints on the way cost PostgreSQL when a collection is accepted: the same statement in
// databases that lack some of them, in turns within one run.
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findApiKeyByHash, type ApiKey } from '../src/db/accounts/api-key.ts';
import { openDatabase, type Database } from '../src/db/database.ts';
import { acceptCollections, type Acceptance } from '../src/db/payments/collection-acceptance.ts';
import { freePort } from '../src/dev/ports.ts';
import { startPostgresServer, type PostgresServer } from '../src/dev/postgres-server.ts';
import type { Collection } from '../src/domain/payments/collection.ts';
import { newId } from '../src/domain/ids.ts';
import { prepareDatabase } from '../src/processes/prepare-database.ts';
import { hashApiKey } from '../src/security/api-key.ts';
import { createRowAttestor } from '../src/security/row-attestation.ts';
import { addMerchant } from './bench-environment.ts';
import { median, printTable } from './table.ts';

const COUNT = Number(process.env['BENCH_COUNT'] ?? 2000);
/** Accepted in one statement; under load it is as many as arrive at about the same time. */
const TOGETHER = Number(process.env['BENCH_TOGETHER'] ?? 1);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const TABLES = `('collections'::regclass, 'idempotency_keys'::regclass)`;
const RESPONSE = { status: 202, body: 'x'.repeat(600) };

/** Each: what is left out, and a query for the statements that do so. */
const VARIANTS: readonly (readonly [name: string, sql: string])[] = [
  ['nothing', `SELECT 'SELECT 1' AS sql`],
  ...constraints('checks of rows', 'c'),
  ...constraints('foreign keys', 'f'),
  ['checks by triggers', triggers(`tgname LIKE '%check%'`)],
  ['totals, figures and live updates (triggers)', triggers(`tgname LIKE '%_created' AND tgname NOT LIKE '%check%'`)],
  ['indexes for lists and searches', indexes(`LIKE 'collections_list%'`)],
  ['indexes for work and housekeeping', indexes(`NOT LIKE 'collections_list%'`)],
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
  const folder = mkdtempSync(join(tmpdir(), 'malipo-bench-'));
  const postgres = await startPostgresServer({
    dataDir: join(folder, 'postgres'),
    fallbackDataDir: `${folder}-postgres`,
    port: await freePort(),
    logFile: join(folder, 'postgres.log'),
    // Only what the statement itself costs.
    settings: { fsync: 'off', synchronous_commit: 'off', autovacuum: 'off' },
  });
  const { ownerUrl } = await postgres.ensureAccounts('malipo');
  await prepareDatabase(ownerUrl, 'test');
  const key = await seed(postgres);
  const databases: { name: string; parts: number; db: Database; costsMs: number[] }[] = [];
  for (const [index, [name, sql]] of VARIANTS.entries()) {
    const db = await copyWithout(postgres, `variant_${index}`, sql);
    databases.push({ name, ...db, costsMs: [] });
  }
  for (const { db } of databases) await accept(db, key);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const { db, costsMs } of databases) costsMs.push(await accept(db, key));
  }
  report(databases);
  for (const { db } of databases) await db.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
  rmSync(`${folder}-postgres`, { recursive: true, force: true });
}

async function copyWithout(
  postgres: PostgresServer,
  name: string,
  sql: string,
): Promise<{ db: Database; parts: number }> {
  const admin = open(postgres.urlFor('postgres'));
  await admin.pool.query(`CREATE DATABASE ${name} TEMPLATE malipo`);
  await admin.close();
  const db = open(postgres.urlFor(name));
  const { rows } = await db.pool.query<{ sql: string }>(sql);
  for (const row of rows) await db.pool.query(row.sql);
  return { db, parts: rows.length };
}

function open(url: string): Database {
  const keyRing = [{ name: 'bench', key: createSecretKey(randomBytes(32)) }] as const;
  const attestor = createRowAttestor({ environment: 'test', keyRing, report: () => undefined });
  const limits = { poolSize: 1, statementTimeoutMs: 30_000, connectTimeoutMs: 10_000 };
  return openDatabase({ url, ...limits, onIdleError: () => undefined, attestor });
}

async function seed(postgres: PostgresServer): Promise<ApiKey> {
  const db = open(postgres.urlFor('malipo'));
  const { apiKey } = await addMerchant(db);
  const found = await findApiKeyByHash(db, hashApiKey(apiKey));
  await db.close();
  if (!found) throw new Error('the key is not there');
  return found;
}

/** CPU milliseconds of the connection's process for each collection. */
async function accept(db: Database, key: ApiKey): Promise<number> {
  const { rows } = await db.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const cpuMs = () => Number(readFileSync(`/proc/${rows[0]?.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  const before = cpuMs();
  for (let first = 0; first < COUNT; first += TOGETHER) {
    const acceptances = Array.from({ length: TOGETHER }, (_, index) => newAcceptance(key, first + index));
    const accepted = await acceptCollections(db, acceptances);
    if (accepted.size < TOGETHER) throw new Error('a collection was not accepted');
  }
  return (cpuMs() - before) / COUNT;
}

function newAcceptance(key: ApiKey, count: number): Acceptance {
  const collection = newCollection(key, count);
  const { merchantId, idempotencyKey, createdAt: at } = collection;
  const request = { merchantId, key: idempotencyKey, fingerprint: randomBytes(32), at };
  return { collection, request, response: RESPONSE, keyVersion: key.rowVersion };
}

function newCollection({ id: apiKeyId, merchantId }: ApiKey, count: number): Collection {
  const at = new Date();
  return {
    id: newId('col', at.getTime()),
    merchantId,
    idempotencyKey: randomUUID(),
    state: 'initiated',
    previousState: null,
    version: 0,
    amountMinor: BigInt(1000 + (count % 900)),
    currency: 'UGX',
    reference: `INV-${count % 500}`,
    phone: `2567720${String(count % 5000).padStart(5, '0')}`,
    operator: 'mtn-momo',
    operatorReference: randomUUID(),
    description: null,
    metadata: {},
    failureCode: null,
    amountReversedMinor: 0n,
    operatorReceipt: null,
    createdBy: null,
    apiKeyId,
    requestId: 'req_bench',
    createdAt: at,
    updatedAt: at,
    promptDeadlineAt: new Date(at.getTime() + 60_000),
    sendBegunAt: null,
    promptExpiresAt: null,
  };
}

function report(databases: readonly { name: string; parts: number; costsMs: readonly number[] }[]): void {
  const [whole] = databases;
  const rows = databases.map(({ name, parts, costsMs }) => {
    const spared = costsMs.map((cost, round) => (whole?.costsMs[round] ?? 0) - cost);
    return [name, whole?.name === name ? '' : String(parts), median(costsMs).toFixed(3), median(spared).toFixed(3)];
  });
  printTable([['left out', 'parts', 'CPU ms each', 'less'], ...rows]);
}
