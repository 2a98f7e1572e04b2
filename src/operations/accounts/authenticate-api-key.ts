// Identifies an API key and checks it for the request. Records refusals of known keys, and counts those of an address.
import { findApiKeyByHash, touchApiKey, type ApiKey } from '../../db/accounts/api-key.ts';
import { addAttempt, findWindowEnd } from '../../db/accounts/attempt-counter.ts';
import { insertAuditEntry } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import type { Scope } from '../../domain/accounts/api-key.ts';
import { permissionDenied } from '../../domain/accounts/member.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import { isInBlocks } from '../../security/address-blocks.ts';
import { hashApiKey, parseApiKey } from '../../security/api-key.ts';
import { keyRefusalLimit, type AttemptLimit } from '../../security/attempt-limit.ts';

/** A request with a key. */
export type KeyRequest = {
  /** The scope that the request needs; null: any valid key is enough. */
  readonly scope: Scope | null;
  /** Method and route, for the audit log. */
  readonly action: string;
  /** Null: unknown. */
  readonly address: string | null;
  readonly requestId: string | null;
  readonly at: Date;
};

export type AuthenticateApiKey = KeyRequest & {
  readonly text: string;
  readonly environment: Environment;
  /** Called with a known key, valid or not, before further checks. */
  readonly onFound?: (key: Pick<ApiKey, 'id' | 'merchantId'>) => void;
};

// People read "last used" to the minute. A coarse value saves a write per request.
const TOUCH_EVERY_MS = 60_000;

/**
 * The key. Throws one of the five 401 codes if the text is not an active key of this environment, `permission_denied`
 * for an address that the key does not allow, whatever else is wrong with the key, and `insufficient_scope`. A refusal
 * of a known key is recorded as in `recordKeyRefusal`.
 */
export async function authenticateApiKey(db: Database, input: AuthenticateApiKey): Promise<ApiKey> {
  const { text, environment, at } = input;
  const parsed = parseApiKey(text);
  if (parsed.kind === 'malformed') throw invalidKey();
  if (parsed.environment !== environment) {
    throw new DomainError(
      'api_key_wrong_environment',
      `This is a ${parsed.environment} key, and this is the ${environment} environment. Use a key of this environment.`,
    );
  }
  const key = await findApiKeyByHash(db, hashApiKey(text));
  if (!key) throw invalidKey();
  input.onFound?.(key);
  const refusal = refusalOf(key, input);
  if (refusal) {
    await recordKeyRefusal(db, key, refusal, input);
    throw refusal;
  }
  if (!isTouchDue(key, at)) return key;
  await touchApiKey(db, key.id, at, new Date(at.getTime() - TOUCH_EVERY_MS));
  return { ...key, lastUsedAt: at };
}

/** Whether the use now must be recorded. */
export function isTouchDue({ lastUsedAt }: ApiKey, at: Date): boolean {
  return lastUsedAt === null || at.getTime() - lastUsedAt.getTime() > TOUCH_EVERY_MS;
}

/** The reason against the key's use for the request; null: none. */
export function refusalOf(key: ApiKey, { scope, address, at }: KeyRequest): DomainError | null {
  // First, so that a caller at another address does not learn whether the key is still valid.
  if (key.allowedAddresses !== null && !isInBlocks(address, key.allowedAddresses)) {
    return permissionDenied('an address that the key does not allow');
  }
  if (key.revokedAt !== null && key.revokedAt <= at) {
    return new DomainError('api_key_revoked', 'This API key was revoked. Use another key of this merchant.');
  }
  if (key.expiresAt !== null && key.expiresAt <= at) {
    return new DomainError('api_key_expired', 'This API key has expired. Create a new key in the console.');
  }
  if (scope === null) return null;
  if (!key.scopes.includes(scope)) {
    return new DomainError('insufficient_scope', `This key lacks the scope ${scope}. Use a key that has it.`);
  }
  if (scope === 'payouts:write' && key.maker === null) {
    return new DomainError(
      'insufficient_scope',
      'This key can no longer use the scope payouts:write: the person who created it has left. Roll the key.',
    );
  }
  return null;
}

/**
 * Records the refusal of a known key in its merchant's audit log, at most once an hour for each key and reason: a
 * server that keeps trying must not fill the log.
 */
export async function recordKeyRefusal(
  db: Database,
  { id, merchantId }: Pick<ApiKey, 'id' | 'merchantId'>,
  refusal: DomainError,
  { scope, action, address, requestId, at }: KeyRequest,
): Promise<void> {
  const limit = keyRefusalLimit(id, reasonOf(refusal, scope));
  // Read without a lock first: otherwise concurrent requests with a refused key would wait for each other.
  const recordedUntil = await findWindowEnd(db, limit.subject);
  if (recordedUntil !== null && recordedUntil > at) return;
  await db.withTransaction(async (tx) => {
    if (!(await addAttempt(tx, limit, at))) return;
    await insertAuditEntry(tx, {
      merchantId,
      apiKeyId: id,
      action,
      outcome: 'refused',
      subjectId: id,
      after: { reason: `${refusal.code}: ${refusal.reason ?? refusal.message}` },
      address,
      requestId,
      at,
    });
  });
}

/** A short name of the reason: one for each missing scope, and one for a revoked or expired key. */
function reasonOf({ code, type }: DomainError, scope: Scope | null): string {
  if (code === 'insufficient_scope' && scope !== null) return scope;
  return type === 'authentication_error' ? 'over' : code;
}

function invalidKey(): DomainError {
  return new DomainError('api_key_invalid', 'We do not know this API key. Check that you copied all of it.');
}

/**
 * Counts one refusal over all processes. Null below the limit. At the limit it returns the end of the window and counts
 * nothing. Valid keys are never counted, so they cost no write.
 */
export async function countRefusedKey(db: Database, limit: AttemptLimit, at: Date): Promise<Date | null> {
  return db.withTransaction(async (tx) => {
    if (await addAttempt(tx, limit, at)) return null;
    return (await findWindowEnd(tx, limit.subject)) ?? new Date(at.getTime() + limit.windowMs);
  });
}
