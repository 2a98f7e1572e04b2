// Rows of API keys: a digest and what the key may do, never the key.
import type { Scope } from '../domain/api-key.ts';
import type { Environment } from '../domain/event.ts';
import type { ApiKeyId, MerchantId } from '../domain/ids.ts';
import type { Currency } from '../domain/money.ts';
import { statement, type Queryable, type Tx } from './database.ts';

export type ApiKey = {
  readonly id: ApiKeyId;
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
};

type ApiKeyRow = {
  id: ApiKeyId;
  merchant_id: MerchantId;
  merchant_currency: Currency;
  environment: Environment;
  scopes: Scope[];
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
};

const INSERT = statement(
  'api_key_insert',
  `INSERT INTO api_keys (id, merchant_id, name, environment, hint, key_sha256, scopes, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export type NewApiKey = {
  readonly id: ApiKeyId;
  readonly merchantId: MerchantId;
  readonly name: string;
  readonly environment: Environment;
  readonly hint: string;
  readonly sha256: Buffer;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
};

export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<void> {
  await tx.run(INSERT, [
    key.id,
    key.merchantId,
    key.name,
    key.environment,
    key.hint,
    key.sha256,
    key.scopes,
    key.createdAt,
    key.expiresAt,
  ]);
}

const FIND = statement(
  'api_key_find',
  `SELECT k.id, k.merchant_id, m.currency AS merchant_currency, k.environment, k.scopes, k.last_used_at, k.expires_at,
          k.revoked_at
   FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.key_sha256 = $1`,
);

export async function findApiKeyByHash(db: Queryable, sha256: Buffer): Promise<ApiKey | null> {
  const [row] = await db.run<ApiKeyRow>(FIND, [sha256]);
  if (!row) return null;
  return {
    id: row.id,
    merchantId: row.merchant_id,
    merchantCurrency: row.merchant_currency,
    environment: row.environment,
    scopes: row.scopes,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

const TOUCH = statement('api_key_touch', 'UPDATE api_keys SET last_used_at = $2 WHERE id = $1');

export async function touchApiKey(db: Queryable, id: ApiKeyId, at: Date): Promise<void> {
  await db.run(TOUCH, [id, at]);
}
