// Replaces an API key by a new one; the old one may stay valid for a while.
import { recordAct } from '../../db/accounts/audit.ts';
import { countActiveApiKeys, endApiKey, findApiKeyLocked, insertApiKey } from '../../db/accounts/api-key.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { findRoles } from '../../db/accounts/member.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import {
  apiKeyState,
  MAX_API_KEYS_PER_MERCHANT,
  mayHandleKeys,
  rolledKeyExpiry,
  type ListedApiKey,
} from '../../domain/accounts/api-key.ts';
import { DomainError, notFound } from '../../domain/errors.ts';
import { isId, newId, type ApiKeyId } from '../../domain/ids.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { apiKeyHint, generateApiKey, hashApiKey } from '../../security/api-key.ts';

export type RollApiKey = {
  readonly id: string;
  /** How long the old key stays valid; 0: it is revoked now. */
  readonly keepOldForMs: number;
  /** When the new key expires; null: as `rolledKeyExpiry` has it. */
  readonly expiresAt: Date | null;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The new key as text, which is shown this once. It has the old key's name, scopes and allowed addresses. Its creator is
 * the person who rolls it: they know its text now, so they must count as the maker of what it creates. Throws
 * `api_key_not_found`, `permission_denied`, `parameter_invalid` as `rolledKeyExpiry` does, and `state_conflict` for a key
 * that is not active or was rolled before (of two simultaneous calls, one succeeds), and when keeping the old key would
 * exceed the number of active keys that a merchant may have.
 */
export async function rollApiKey(db: Database, input: RollApiKey): Promise<{ id: ApiKeyId; key: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    // The same lock as for creating a key: otherwise two simultaneous calls would both count the same free place.
    await lockMembersAs(tx, by);
    const old = await findRollable(tx, input);
    const id = newId('key', at.getTime());
    const key = generateApiKey(old.environment);
    const newExpiresAt = rolledKeyExpiry(old, input.expiresAt, at);
    await insertApiKey(tx, {
      id,
      merchantId: by.person.merchantId,
      name: old.name,
      environment: old.environment,
      hint: apiKeyHint(key),
      sha256: hashApiKey(key),
      scopes: old.scopes,
      createdBy: by.person.userId,
      createdAt: at,
      expiresAt: newExpiresAt,
      allowedAddresses: old.allowedAddresses,
    });
    const ends = new Date(at.getTime() + input.keepOldForMs);
    const isRevoked = input.keepOldForMs === 0;
    const expiresAt = isRevoked || (old.expiresAt !== null && old.expiresAt < ends) ? old.expiresAt : ends;
    await endApiKey(tx, old.id, { expiresAt, revokedAt: isRevoked ? at : null, replacedBy: id });
    const after = { replaced_by: id, expires_at: newExpiresAt, old_expires_at: isRevoked ? at : expiresAt };
    await recordAct(tx, by, { action: 'api_key.rolled', subjectId: old.id, after, at });
    return { id, key };
  });
}

async function findRollable(tx: Tx, { id, keepOldForMs, by, at }: RollApiKey): Promise<ListedApiKey> {
  const { merchantId, userId } = by.person;
  const old = isId('key', id) ? await findApiKeyLocked(tx, merchantId, id) : null;
  if (!old) throw notFound('api_key');
  if (!mayHandleKeys(await findRoles(tx, merchantId, userId), old.scopes)) {
    throw permissionDenied('the roles do not cover this key');
  }
  if (old.replacedBy !== null || apiKeyState(old, at) !== 'active') {
    throw new DomainError(
      'state_conflict',
      'This key was rolled or revoked, or it has expired. Create a new key instead.',
    );
  }
  if (keepOldForMs > 0 && (await countActiveApiKeys(tx, merchantId, at)) >= MAX_API_KEYS_PER_MERCHANT) {
    throw new DomainError(
      'state_conflict',
      `A merchant can have ${MAX_API_KEYS_PER_MERCHANT} active keys. Revoke one, or roll this one with keep_old_for 0.`,
    );
  }
  return old;
}
