// API keys: `sk_test_` or `sk_live_`, 30 random base62 characters, and 6 of a CRC-32 that catches typing mistakes.
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DomainError } from '../errors.ts';
import type { Environment } from '../event.ts';
import type { ApiKeyId, UserId } from '../ids.ts';
import { holdsOneOf, type Role } from './member.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^sk_(test|live)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

export const SCOPES = [
  'collections:read',
  'collections:write',
  'payouts:read',
  'payouts:write',
  'balance:read',
] as const;
export type Scope = (typeof SCOPES)[number];

/** A new key as text. It is shown once and never stored: keep `hashApiKey` of it. About 178 random bits. */
export function generateApiKey(environment: Environment): string {
  let key = `sk_${environment}_`;
  for (let i = 0; i < RANDOM_LENGTH; i++) key += BASE62.charAt(randomInt(BASE62.length));
  return key + checksum(key);
}

export type ParsedApiKey = { readonly kind: 'key'; readonly environment: Environment } | { readonly kind: 'malformed' };

/** Whether `text` can be a key at all (form and checksum), and of which environment. */
export function parseApiKey(text: string): ParsedApiKey {
  const environment = FORM.exec(text)?.[1];
  if (environment !== 'test' && environment !== 'live') return { kind: 'malformed' };
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return { kind: 'malformed' };
  return { kind: 'key', environment };
}

/** SHA-256 of the key. A plain digest is enough: the key has more entropy than anyone can try. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The last four characters, for people to tell their keys apart. */
export function apiKeyHint(key: string): string {
  return key.slice(-4);
}

function checksum(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(value % BASE62.length) + digits;
    value = Math.floor(value / BASE62.length);
  }
  return digits;
}

/** More keys in force than this are lost track of. */
export const MAX_API_KEYS_PER_MERCHANT = 100;
/** How long a rolled key may live on beside the one that takes its place. */
export const MAX_ROLL_OVERLAP_MS = 72 * 60 * 60_000;

/** A key as its merchant's people see it. */
export type ListedApiKey = {
  readonly id: ApiKeyId;
  readonly name: string;
  readonly environment: Environment;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly createdBy: { readonly id: UserId; readonly name: string } | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly replacedBy: ApiKeyId | null;
};

export type ApiKeyState = 'active' | 'expired' | 'revoked';

/** Whether these roles reach to keys with these scopes. What moves money out is not for developers to hand out. */
export function mayHandleKeys(roles: readonly Role[], scopes: readonly Scope[]): boolean {
  return holdsOneOf(roles, scopes.includes('payouts:write') ? ['admin'] : ['admin', 'developer']);
}

/** The state of a key at a moment. Revoked counts before expired. */
export function apiKeyState(
  key: { readonly expiresAt: Date | null; readonly revokedAt: Date | null },
  at: Date,
): ApiKeyState {
  if (key.revokedAt !== null && key.revokedAt <= at) return 'revoked';
  return key.expiresAt !== null && key.expiresAt <= at ? 'expired' : 'active';
}

/** The same for an unknown id and for another merchant's. */
export function apiKeyNotFound(): DomainError {
  return new DomainError('api_key_not_found', 'There is no API key with this id. Look it up in the list of keys.');
}
