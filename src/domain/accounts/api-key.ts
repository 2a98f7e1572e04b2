// API keys: their scopes, their states, and which roles may manage them.
import { DomainError } from '../errors.ts';
import type { Environment } from '../event.ts';
import type { ApiKeyId } from '../ids.ts';
import { holdsOneOf, type NamedPerson, type Role } from './member.ts';

export const SCOPES = [
  'collections:read',
  'collections:write',
  'payouts:read',
  'payouts:write',
  'balance:read',
] as const;
export type Scope = (typeof SCOPES)[number];

/** How many active keys a merchant may have: nobody keeps track of more. */
export const MAX_API_KEYS_PER_MERCHANT = 100;
/** The longest that a rolled key may stay valid beside its replacement. */
export const MAX_ROLL_OVERLAP_MS = 72 * 60 * 60_000;

/** A key as the merchant's members see it. */
export type ListedApiKey = {
  readonly id: ApiKeyId;
  readonly name: string;
  readonly environment: Environment;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly createdBy: NamedPerson | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly replacedBy: ApiKeyId | null;
};

export type ApiKeyState = 'active' | 'expired' | 'revoked';

/**
 * Whether these roles may create, roll and revoke keys with these scopes. Developers may not handle keys with
 * `payouts:write`, because such a key moves money out.
 */
export function mayHandleKeys(roles: readonly Role[], scopes: readonly Scope[]): boolean {
  return holdsOneOf(roles, scopes.includes('payouts:write') ? ['admin'] : ['admin', 'developer']);
}

/** The state of a key at `at`. A key that is both revoked and expired counts as revoked. */
export function apiKeyState(
  key: { readonly expiresAt: Date | null; readonly revokedAt: Date | null },
  at: Date,
): ApiKeyState {
  if (key.revokedAt !== null && key.revokedAt <= at) return 'revoked';
  return key.expiresAt !== null && key.expiresAt <= at ? 'expired' : 'active';
}

/** One error for an unknown id and for a key of another merchant. */
export function apiKeyNotFound(): DomainError {
  return new DomainError('api_key_not_found', 'There is no API key with this id. Look it up in the list of keys.');
}
