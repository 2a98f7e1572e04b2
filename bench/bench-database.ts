// Databases of the service on a PostgreSQL of their own, for what is measured of statements alone.
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findApiKeyByHash, type ApiKey } from '../src/db/accounts/api-key.ts';
import { openDatabase, type Database } from '../src/db/platform/database.ts';
import type { Acceptance } from '../src/db/payments/collection-acceptance.ts';
import { freePort } from '../src/engines/process/ports.ts';
import { startPostgresServer } from '../src/engines/postgres/server.ts';
import type { Collection } from '../src/domain/payments/collection.ts';
import { newId } from '../src/domain/ids.ts';
import { neverSent } from '../src/domain/payments/new-payment.ts';
import { prepareDatabase } from '../src/server/prepare-database.ts';
import { hashApiKey } from '../src/security/api-key.ts';
import { createRowAttestor } from '../src/security/row-attestation.ts';
import { freshFence } from '../test/support/fresh-fence.ts';
import { queryAt } from '../test/support/one-client.ts';
import { addMerchant } from './merchants.ts';

/** Seals and attests in every run, so that a later one can go on with a folder that is kept. */
export const KEY_RING = [{ name: 'bench', key: createSecretKey(Buffer.alloc(32, 'bench')) }] as const;
const LIMITS = { poolSize: 1, statementTimeoutMs: 600_000, connectTimeoutMs: 10_000 };

export type BenchDatabase = {
  /** Makes a database of this name, or brings the one that is there up to date, and opens it. */
  prepare(name: string): Promise<Database>;
  /** One that is there, with one connection. */
  open(name: string, connection?: { readonly claimsFromQueues: true }): Database;
  /** Nobody may be connected to the one that is copied. */
  copy(from: string, to: string): Promise<void>;
  stop(): Promise<void>;
};

type BenchDatabaseOptions = {
  /** postgresql.conf settings by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** Kept at the end; without it a new one, which is not. */
  readonly keptIn?: string | undefined;
};

export async function startBenchDatabase({ settings, keptIn }: BenchDatabaseOptions): Promise<BenchDatabase> {
  const folder = keptIn ?? mkdtempSync(join(tmpdir(), 'malipo-bench-'));
  const postgres = await startPostgresServer({
    dataDir: join(folder, 'postgres'),
    fallbackDataDir: `${folder}-postgres`,
    port: await freePort(),
    logFile: join(folder, 'postgres.log'),
    settings,
  });
  const attestor = createRowAttestor({ environment: 'test', keyRing: KEY_RING, report: () => undefined });
  const open: BenchDatabase['open'] = (name, connection) =>
    openDatabase({ url: postgres.urlFor(name), ...LIMITS, ...connection, onIdleError: () => undefined, attestor });
  return {
    open,
    async prepare(name) {
      const { ownerUrl } = await postgres.ensureAccounts(name);
      await prepareDatabase(ownerUrl, 'test');
      await queryAt(postgres.urlFor(name), ...freshFence());
      return open(name);
    },
    async copy(from, to) {
      const admin = open('postgres');
      await admin.pool.query(`CREATE DATABASE ${to} TEMPLATE ${from}`);
      await queryAt(postgres.urlFor(to), ...freshFence());
      await admin.close();
    },
    async stop() {
      await postgres.stop();
      if (keptIn !== undefined) return;
      rmSync(folder, { recursive: true, force: true });
      rmSync(`${folder}-postgres`, { recursive: true, force: true });
    },
  };
}

/** The API key of a new merchant. */
export async function addKey(db: Database): Promise<ApiKey> {
  return findKey(db, (await addMerchant(db)).apiKey);
}

export async function findKey(db: Database, apiKey: string): Promise<ApiKey> {
  const found = await findApiKeyByHash(db, hashApiKey(apiKey));
  if (!found) throw new Error('the key is not there');
  return found;
}

const RESPONSE = { status: 202, body: 'x'.repeat(600) };

/** A new collection, the `count`th, as it is accepted for this key. */
export function newAcceptance(key: ApiKey, count: number): Acceptance {
  const collection = newCollection(key, count);
  const { merchantId, idempotencyKey, createdAt: at } = collection;
  const request = { merchantId, key: idempotencyKey, fingerprint: randomBytes(32), at };
  return { collection, request, response: RESPONSE, keyVersion: key.rowVersion };
}

function newCollection({ id: apiKeyId, merchantId }: ApiKey, count: number): Collection {
  const at = new Date();
  return {
    kind: 'collection',
    id: newId('col', at.getTime()),
    merchantId,
    idempotencyKey: randomUUID(),
    state: 'initiated',
    previousState: null,
    version: 0,
    amountMinor: BigInt(500 + ((count * 31) % 200_000)),
    currency: 'UGX',
    reference: `INV-${count % 500}`,
    phone: `2567720${String(count % 100_000).padStart(5, '0')}`,
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
    ...neverSent({ operator: 'mtn-momo', kind: 'collection' }),
    promptExpiresAt: null,
  };
}
