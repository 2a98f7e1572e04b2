// Puts a new API key in an old one's place; the old one may live on for a while.
import { recordAct } from '../../db/accounts/audit.ts';
import { countApiKeysInForce, endApiKey, findApiKeyLocked, insertApiKey } from '../../db/accounts/api-key.ts';
import type { Database, Tx } from '../../db/database.ts';
import { findRoles, lockMembers } from '../../db/accounts/member.ts';
import {
  apiKeyHint,
  apiKeyNotFound,
  apiKeyState,
  generateApiKey,
  hashApiKey,
  MAX_API_KEYS_PER_MERCHANT,
  mayHandleKeys,
  type ListedApiKey,
} from '../../domain/accounts/api-key.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, newId, type ApiKeyId } from '../../domain/ids.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';

export type RollApiKey = {
  readonly id: string;
  /** How long the old key lives on; 0: it is revoked now. */
  readonly keepOldForMs: number;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The new key as text, which nobody can see again. It has the old one's name, scopes and expiry. Its creator is who rolls:
 * they hold its text now, so what is made with it must count as made by them. Throws `api_key_not_found`,
 * `permission_denied`, and `state_conflict` for a key that is not in force or was rolled before (of two at once, one does), and
 * where the old one would live on beside as many as a merchant can have in force.
 */
export async function rollApiKey(db: Database, input: RollApiKey): Promise<{ id: ApiKeyId; key: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    // As making a key does: two at once would each count the same free place.
    await lockMembers(tx, by.person.merchantId);
    const old = await findRollable(tx, input);
    const id = newId('key', at.getTime());
    const key = generateApiKey(old.environment);
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
      expiresAt: old.expiresAt,
    });
    const ends = new Date(at.getTime() + input.keepOldForMs);
    const isRevoked = input.keepOldForMs === 0;
    const expiresAt = isRevoked || (old.expiresAt !== null && old.expiresAt < ends) ? old.expiresAt : ends;
    await endApiKey(tx, old.id, { expiresAt, revokedAt: isRevoked ? at : null, replacedBy: id });
    const after = { replaced_by: id, old_expires_at: isRevoked ? at : expiresAt };
    await recordAct(tx, by, { action: 'api_key.rolled', subjectId: old.id, after, at });
    return { id, key };
  });
}

async function findRollable(tx: Tx, { id, keepOldForMs, by, at }: RollApiKey): Promise<ListedApiKey> {
  const { merchantId, userId } = by.person;
  const old = isId('key', id) ? await findApiKeyLocked(tx, merchantId, id) : null;
  if (!old) throw apiKeyNotFound();
  if (!mayHandleKeys(await findRoles(tx, merchantId, userId), old.scopes)) {
    throw permissionDenied('the roles do not reach to this key');
  }
  if (old.replacedBy !== null || apiKeyState(old, at) !== 'active') {
    throw new DomainError('state_conflict', 'This key was rolled, revoked or has expired. Make a new key instead.');
  }
  if (keepOldForMs > 0 && (await countApiKeysInForce(tx, merchantId, at)) >= MAX_API_KEYS_PER_MERCHANT) {
    throw new DomainError(
      'state_conflict',
      `A merchant can have ${MAX_API_KEYS_PER_MERCHANT} keys in force. Revoke one, or roll this one with keep_old_for 0.`,
    );
  }
  return old;
}
