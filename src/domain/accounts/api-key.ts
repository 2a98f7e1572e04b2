// API keys: their scopes, states and expiry, and the roles that may manage them.
import { invalidParameters } from '../errors.ts';
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

const READ_SCOPES: readonly Scope[] = ['collections:read', 'payouts:read', 'balance:read'];
const WRITE_SCOPES: readonly Scope[] = ['collections:write', 'payouts:write'];

/** How many active keys a merchant may have. */
export const MAX_API_KEYS_PER_MERCHANT = 100;
/** The longest that a rolled key may stay valid beside its replacement. */
export const MAX_ROLL_OVERLAP_MS = 72 * 60 * 60_000;

const DAY_MS = 24 * 60 * 60_000;
/**
 * The default life of a key with `payouts:write`. A forgotten key, or one stolen unnoticed, ends within a quarter of a
 * year, which is long enough for a fixed calendar of rolls.
 */
export const DEFAULT_PAYOUT_KEY_LIFE_MS = 90 * DAY_MS;
/** The longest life of such a key. The database refuses a longer life too. */
export const MAX_PAYOUT_KEY_LIFE_MS = 365 * DAY_MS;
/** How many addresses and blocks a key may be restricted to. Nobody reviews a longer list. */
export const MAX_ALLOWED_ADDRESSES = 20;

export type ListedApiKey = {
  readonly id: ApiKeyId;
  readonly name: string;
  readonly environment: Environment;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly allowedAddresses: AllowedAddresses;
  readonly createdBy: NamedPerson | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly replacedBy: ApiKeyId | null;
};

/** Blocks of addresses, each written as `parseBlock` writes it; null: the key works from anywhere. */
export type AllowedAddresses = readonly string[] | null;

export type ApiKeyState = 'active' | 'expired' | 'revoked';

/** What a session with these roles may do on the routes that API keys use. Every role reads. */
export function scopesOfRoles(roles: readonly Role[]): Scope[] {
  return holdsOneOf(roles, ['maker']) ? [...READ_SCOPES, ...WRITE_SCOPES] : [...READ_SCOPES];
}

/** Whether these roles may manage keys with these scopes. Developers manage none with `payouts:write`. */
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

/**
 * When a key created at `at` expires; null: never. A key with `payouts:write` always expires. Throws
 * `parameter_invalid` if `stated` is later than the longest life of such a key.
 */
export function apiKeyExpiry(scopes: readonly Scope[], stated: Date | null, at: Date): Date | null {
  if (!scopes.includes('payouts:write')) return stated;
  if (stated === null) return new Date(at.getTime() + DEFAULT_PAYOUT_KEY_LIFE_MS);
  if (stated.getTime() - at.getTime() <= MAX_PAYOUT_KEY_LIFE_MS) return stated;
  const days = MAX_PAYOUT_KEY_LIFE_MS / DAY_MS;
  const message = `expires_at must be within ${days} days: no key with payouts:write is valid for longer.`;
  throw invalidParameters([{ param: 'expires_at', code: 'parameter_invalid', message }]);
}

/**
 * When a key that replaces `old` at `at` expires. Without `stated`, a key with `payouts:write` gets the life that the
 * old key had at its creation, and any other key expires when the old one would have. Throws `parameter_invalid` as
 * `apiKeyExpiry` does.
 */
export function rolledKeyExpiry(
  old: Pick<ListedApiKey, 'scopes' | 'createdAt' | 'expiresAt'>,
  stated: Date | null,
  at: Date,
): Date | null {
  const { scopes, createdAt, expiresAt } = old;
  if (stated !== null || expiresAt === null) return apiKeyExpiry(scopes, stated, at);
  if (!scopes.includes('payouts:write')) return expiresAt;
  // A key created before the limit existed may have had a longer life.
  const lifeMs = Math.min(expiresAt.getTime() - createdAt.getTime(), MAX_PAYOUT_KEY_LIFE_MS);
  return new Date(at.getTime() + lifeMs);
}
