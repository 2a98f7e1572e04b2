// API keys: their scopes, their states, when they expire, and which roles may manage them.
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

/** How many active keys a merchant may have: nobody keeps track of more. */
export const MAX_API_KEYS_PER_MERCHANT = 100;
/** The longest that a rolled key may stay valid beside its replacement. */
export const MAX_ROLL_OVERLAP_MS = 72 * 60 * 60_000;

const DAY_MS = 24 * 60 * 60_000;
/**
 * How long a key with `payouts:write` lives where nobody says: a key that was forgotten, or stolen and not missed, ends
 * within a quarter of a year, and a quarter is long enough to roll keys by a calendar.
 */
export const DEFAULT_PAYOUT_KEY_LIFE_MS = 90 * DAY_MS;
/** The longest that anybody may let it live. The database refuses a longer life too. */
export const MAX_PAYOUT_KEY_LIFE_MS = 365 * DAY_MS;
/** How many addresses and blocks a key may be restricted to: more are no list that anybody reads. */
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

/** Whether these roles may handle keys with these scopes: developers none with `payouts:write`, which moves money. */
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
 * When a key that is created at `at` expires; null: never. A key with `payouts:write` always does. Throws
 * `parameter_invalid` where the stated time is later than such a key may live.
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
 * When the key expires that replaces `old` at `at`. Where nobody states it, a key with `payouts:write` lives as long as
 * the old one was created to live, and another one ends when the old one would have. Throws `parameter_invalid` as
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
  // A key from before there was a limit may have had a longer life.
  const lifeMs = Math.min(expiresAt.getTime() - createdAt.getTime(), MAX_PAYOUT_KEY_LIFE_MS);
  return new Date(at.getTime() + lifeMs);
}
