// Tells whose an API key is and what it may do.
import { findApiKeyByHash, touchApiKey, type ApiKey } from '../db/api-key.ts';
import type { Database } from '../db/database.ts';
import { hashApiKey, parseApiKey } from '../domain/api-key.ts';
import { DomainError } from '../domain/errors.ts';
import type { Environment } from '../domain/event.ts';

// "Last used" is for people: to the minute is close enough, and saves a write per call.
const TOUCH_EVERY_MS = 60_000;

/** Throws one of the five 401 codes when the text is not a key in force here. */
export async function authenticateApiKey(
  db: Database,
  text: string,
  environment: Environment,
  at: Date,
): Promise<ApiKey> {
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
  if (key.revokedAt !== null && key.revokedAt <= at) {
    throw new DomainError('api_key_revoked', 'This API key was revoked. Use another key of this merchant.');
  }
  if (key.expiresAt !== null && key.expiresAt <= at) {
    throw new DomainError('api_key_expired', 'This API key has expired. Make a new key in the console.');
  }
  if (key.lastUsedAt === null || at.getTime() - key.lastUsedAt.getTime() > TOUCH_EVERY_MS) {
    await touchApiKey(db, key.id, at);
  }
  return key;
}

function invalidKey(): DomainError {
  return new DomainError('api_key_invalid', 'This is not an API key we know. Check that it was copied whole.');
}
