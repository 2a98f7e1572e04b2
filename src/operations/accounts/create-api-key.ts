// Creates API keys of a merchant, replaces them by new ones, and revokes them.
import { countActiveApiKeys, insertApiKey, endApiKey, findApiKeyLocked } from '../../db/accounts/api-key.ts';
import { recordAct } from '../../db/accounts/audit.ts';
import { findRoles } from '../../db/accounts/member.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import {
  apiKeyExpiry,
  MAX_API_KEYS_PER_MERCHANT,
  mayHandleKeys,
  apiKeyState,
  rolledKeyExpiry,
  type AllowedAddresses,
  type Scope,
  type ListedApiKey,
} from '../../domain/accounts/api-key.ts';
import { permissionDenied, type ActedBy, type ByPerson } from '../../domain/accounts/member.ts';
import { notFound, stateConflict } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import { newId, isId, type ApiKeyId, type MerchantId, type UserId } from '../../domain/ids.ts';
import { apiKeyHint, generateApiKey, hashApiKey } from '../../security/api-key.ts';

export type CreateApiKey = {
  readonly merchantId: MerchantId;
  readonly name: string;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  /** Null: the default of `apiKeyExpiry`. */
  readonly expiresAt: Date | null;
  /** The addresses from which the key works; absent: any. */
  readonly allowedAddresses?: AllowedAddresses | undefined;
  /** The person who counts as the maker of what the key creates; null only without `payouts:write`. */
  readonly createdBy: UserId | null;
  /** Null: the service itself, which needs no role. */
  readonly by: ActedBy | null;
  readonly at: Date;
};

/**
 * The text of the key, which is shown this once: only its digest is stored. Throws `permission_denied` if the person's
 * roles do not cover these scopes, `parameter_invalid` as `apiKeyExpiry` does, and `state_conflict` if the merchant has
 * too many keys.
 */
export async function createApiKey(db: Database, input: CreateApiKey): Promise<{ id: ApiKeyId; key: string }> {
  const { merchantId, name, scopes, allowedAddresses = null, by, at } = input;
  const expiresAt = apiKeyExpiry(scopes, input.expiresAt, at);
  const { key, stored } = newKey(input.environment, at);
  await db.withTransaction(async (tx) => {
    if (by !== null) {
      await lockMembersAs(tx, by);
      const roles = await findRoles(tx, merchantId, by.person.userId);
      if (!mayHandleKeys(roles, scopes)) throw permissionDenied('the roles do not cover these scopes');
      if ((await countActiveApiKeys(tx, merchantId, at)) >= MAX_API_KEYS_PER_MERCHANT) {
        throw stateConflict(
          `A merchant can have ${MAX_API_KEYS_PER_MERCHANT} active keys. Revoke one before you create another.`,
        );
      }
    }
    const { createdBy } = input;
    await insertApiKey(tx, { ...stored, merchantId, name, scopes, createdBy, expiresAt, allowedAddresses });
    if (by !== null) {
      const after = { name, scopes, expires_at: expiresAt, allowed_addresses: allowedAddresses };
      await recordAct(tx, by, { action: 'api_key.created', subjectId: stored.id, after, at });
    }
  });
  return { id: stored.id, key };
}

export type RollApiKey = ByPerson & {
  readonly id: string;
  /** How long the old key stays valid; 0: it is revoked now. */
  readonly keepOldForMs: number;
  /** When the new key expires; null: the default of `rolledKeyExpiry`. */
  readonly expiresAt: Date | null;
};

/**
 * The text of the new key, which is shown this once. The new key has the old key's name, scopes and allowed addresses.
 * Its creator is the person who rolls it: that person knows its text, so they must count as the maker of what it
 * creates. Throws `api_key_not_found`, `permission_denied`, `parameter_invalid` as `rolledKeyExpiry` does, and
 * `state_conflict` for a key that is inactive or already rolled (of two concurrent calls, one succeeds) and if the kept
 * old key would exceed the merchant's limit of active keys.
 */
export async function rollApiKey(db: Database, input: RollApiKey): Promise<{ id: ApiKeyId; key: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    // The lock of key creation: otherwise two concurrent calls would both count the same free place.
    await lockMembersAs(tx, by);
    const old = await findRollable(tx, input);
    const { name, environment, scopes, allowedAddresses } = old;
    const { key, stored } = newKey(environment, at);
    const { merchantId, userId: createdBy } = by.person;
    const newExpiresAt = rolledKeyExpiry(old, input.expiresAt, at);
    const granted = { name, scopes, allowedAddresses, expiresAt: newExpiresAt };
    await insertApiKey(tx, { ...stored, ...granted, merchantId, createdBy });
    const ends = new Date(at.getTime() + input.keepOldForMs);
    const isRevoked = input.keepOldForMs === 0;
    const expiresAt = isRevoked || (old.expiresAt !== null && old.expiresAt < ends) ? old.expiresAt : ends;
    await endApiKey(tx, old.id, { expiresAt, revokedAt: isRevoked ? at : null, replacedBy: stored.id });
    const after = { replaced_by: stored.id, expires_at: newExpiresAt, old_expires_at: isRevoked ? at : expiresAt };
    await recordAct(tx, by, { action: 'api_key.rolled', subjectId: old.id, after, at });
    return { id: stored.id, key };
  });
}

async function findRollable(tx: Tx, { id, keepOldForMs, by, at }: RollApiKey): Promise<ListedApiKey> {
  const old = await lockHandled(tx, id, by);
  if (old.replacedBy !== null || apiKeyState(old, at) !== 'active') {
    throw stateConflict('This key was rolled or revoked, or it has expired. Create a new key instead.');
  }
  if (keepOldForMs > 0 && (await countActiveApiKeys(tx, by.person.merchantId, at)) >= MAX_API_KEYS_PER_MERCHANT) {
    throw stateConflict(
      `A merchant can have ${MAX_API_KEYS_PER_MERCHANT} active keys. Revoke one, or roll this one with keep_old_for 0.`,
    );
  }
  return old;
}

/**
 * The revoked key. Every request with it that begins after this returns is refused. A repeat changes nothing. Throws
 * `api_key_not_found` and `permission_denied`.
 */
export async function revokeApiKey(db: Database, id: string, by: ActedBy, at: Date): Promise<ListedApiKey> {
  return db.withTransaction(async (tx) => {
    const key = await lockHandled(tx, id, by);
    if (key.revokedAt !== null) return key;
    const revoked = { ...key, revokedAt: at };
    await endApiKey(tx, key.id, revoked);
    const change = { before: { revoked_at: null }, after: { revoked_at: at } };
    await recordAct(tx, by, { action: 'api_key.revoked', subjectId: key.id, ...change, at });
    return revoked;
  });
}

/** The text of a new key, and the stored values that do not depend on its permissions. */
function newKey(environment: Environment, at: Date) {
  const key = generateApiKey(environment);
  const id = newId('key', at.getTime());
  return { key, stored: { id, environment, hint: apiKeyHint(key), sha256: hashApiKey(key), createdAt: at } };
}

/** The locked key, which the person may manage now. */
async function lockHandled(tx: Tx, id: string, { person: { merchantId, userId } }: ActedBy): Promise<ListedApiKey> {
  const key = isId('key', id) ? await findApiKeyLocked(tx, merchantId, id) : null;
  if (!key) throw notFound('api_key');
  if (mayHandleKeys(await findRoles(tx, merchantId, userId), key.scopes)) return key;
  throw permissionDenied('the roles do not cover this key');
}
