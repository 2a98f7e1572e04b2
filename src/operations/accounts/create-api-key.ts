// Creates an API key for a merchant.
import { recordAct } from '../../db/accounts/audit.ts';
import { countActiveApiKeys, insertApiKey } from '../../db/accounts/api-key.ts';
import type { Database } from '../../db/platform/database.ts';
import { findRoles } from '../../db/accounts/member.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import {
  apiKeyExpiry,
  MAX_API_KEYS_PER_MERCHANT,
  mayHandleKeys,
  type AllowedAddresses,
  type Scope,
} from '../../domain/accounts/api-key.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import { newId, type ApiKeyId, type MerchantId, type UserId } from '../../domain/ids.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { apiKeyHint, generateApiKey, hashApiKey } from '../../security/api-key.ts';

export type CreateApiKey = {
  readonly merchantId: MerchantId;
  readonly name: string;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  /** Null: as `apiKeyExpiry` has it. */
  readonly expiresAt: Date | null;
  /** From where the key works; absent: from anywhere. */
  readonly allowedAddresses?: AllowedAddresses | undefined;
  /** The person who counts as the maker of what the key creates; null only without `payouts:write`. */
  readonly createdBy: UserId | null;
  /** Null: the service itself, which needs no role. */
  readonly by: ActedBy | null;
  readonly at: Date;
};

/**
 * The key as text, which is shown this once: only its digest is stored. Throws `permission_denied` when the person's
 * roles do not cover these scopes, `parameter_invalid` as `apiKeyExpiry` does, and `state_conflict` when the merchant has
 * too many keys.
 */
export async function createApiKey(db: Database, input: CreateApiKey): Promise<{ id: ApiKeyId; key: string }> {
  const { merchantId, name, scopes, allowedAddresses = null, by, at } = input;
  const expiresAt = apiKeyExpiry(scopes, input.expiresAt, at);
  const id = newId('key', at.getTime());
  const key = generateApiKey(input.environment);
  await db.withTransaction(async (tx) => {
    if (by !== null) {
      await lockMembersAs(tx, by);
      const roles = await findRoles(tx, merchantId, by.person.userId);
      if (!mayHandleKeys(roles, scopes)) throw permissionDenied('the roles do not cover these scopes');
      if ((await countActiveApiKeys(tx, merchantId, at)) >= MAX_API_KEYS_PER_MERCHANT) {
        throw new DomainError(
          'state_conflict',
          `A merchant can have ${MAX_API_KEYS_PER_MERCHANT} active keys. Revoke one before you create another.`,
        );
      }
    }
    await insertApiKey(tx, {
      id,
      merchantId,
      name,
      environment: input.environment,
      hint: apiKeyHint(key),
      sha256: hashApiKey(key),
      scopes,
      createdBy: input.createdBy,
      createdAt: at,
      expiresAt,
      allowedAddresses,
    });
    if (by !== null) {
      const after = { name, scopes, expires_at: expiresAt, allowed_addresses: allowedAddresses };
      await recordAct(tx, by, { action: 'api_key.created', subjectId: id, after, at });
    }
  });
  return { id, key };
}
