// The text of API keys: `sk_test_` or `sk_live_`, 30 random base62 characters, and a CRC-32 in 6 against typing errors.
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../domain/event.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^sk_(test|live)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new key as text, with about 178 random bits. It is shown once and never stored: store `hashApiKey` of it. */
export function generateApiKey(environment: Environment): string {
  let key = `sk_${environment}_`;
  for (let i = 0; i < RANDOM_LENGTH; i++) key += BASE62.charAt(randomInt(BASE62.length));
  return key + checksum(key);
}

export type ParsedApiKey = { readonly kind: 'key'; readonly environment: Environment } | { readonly kind: 'malformed' };

/** Whether `text` has the form and checksum of a key, and its environment. The key need not exist. */
export function parseApiKey(text: string): ParsedApiKey {
  const environment = FORM.exec(text)?.[1];
  if (environment !== 'test' && environment !== 'live') return { kind: 'malformed' };
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return { kind: 'malformed' };
  return { kind: 'key', environment };
}

/** SHA-256 of the key. A plain digest is enough, because a key has too many random bits to guess. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** The last four characters, by which people recognise a key in a list. */
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
