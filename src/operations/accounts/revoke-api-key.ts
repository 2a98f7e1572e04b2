// Revokes an API key.
import { recordAct } from '../../db/accounts/audit.ts';
import { endApiKey, findApiKeyLocked } from '../../db/accounts/api-key.ts';
import type { Database } from '../../db/platform/database.ts';
import { findRoles } from '../../db/accounts/member.ts';
import { mayHandleKeys, type ListedApiKey } from '../../domain/accounts/api-key.ts';
import { isId } from '../../domain/ids.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { notFound } from '../../domain/errors.ts';

/**
 * The revoked key. Every request with it that begins after this returns is refused. A repeat changes nothing. Throws
 * `api_key_not_found` and `permission_denied`.
 */
export async function revokeApiKey(db: Database, id: string, by: ActedBy, at: Date): Promise<ListedApiKey> {
  const { merchantId, userId } = by.person;
  return db.withTransaction(async (tx) => {
    const key = isId('key', id) ? await findApiKeyLocked(tx, merchantId, id) : null;
    if (!key) throw notFound('api_key');
    if (!mayHandleKeys(await findRoles(tx, merchantId, userId), key.scopes)) {
      throw permissionDenied('the roles do not cover this key');
    }
    if (key.revokedAt !== null) return key;
    const revoked = { ...key, revokedAt: at };
    await endApiKey(tx, key.id, revoked);
    const change = { before: { revoked_at: null }, after: { revoked_at: at } };
    await recordAct(tx, by, { action: 'api_key.revoked', subjectId: key.id, ...change, at });
    return revoked;
  });
}
