// Makes an API key for a merchant.
import { insertApiKey } from '../db/api-key.ts';
import type { Database } from '../db/database.ts';
import { apiKeyHint, generateApiKey, hashApiKey, type Scope } from '../domain/api-key.ts';
import type { Environment } from '../domain/event.ts';
import { newId, type ApiKeyId, type MerchantId } from '../domain/ids.ts';

export type CreateApiKey = {
  readonly merchantId: MerchantId;
  readonly name: string;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly at: Date;
};

/** The key as text, which nobody can see again: only its digest is kept. */
export async function createApiKey(db: Database, input: CreateApiKey): Promise<{ id: ApiKeyId; key: string }> {
  const id = newId('key', input.at.getTime());
  const key = generateApiKey(input.environment);
  await db.withTransaction((tx) =>
    insertApiKey(tx, {
      id,
      merchantId: input.merchantId,
      name: input.name,
      environment: input.environment,
      hint: apiKeyHint(key),
      sha256: hashApiKey(key),
      scopes: input.scopes,
      createdAt: input.at,
      expiresAt: input.expiresAt,
    }),
  );
  return { id, key };
}
