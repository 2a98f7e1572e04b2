// Opaque tokens for sessions, invitations and recoveries: 256 random bits, stored as digests; and codes in addresses.
import { createHash, randomBytes } from 'node:crypto';

const BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** SHA-256 of the token; null if the text cannot be a token. A plain digest is enough: 256 bits cannot be guessed. */
export function hashToken(token: string): Buffer | null {
  return FORM.test(token) ? digest(token) : null;
}

/** A token and its digest. The token is shown once and never stored. */
export type NewToken = { readonly token: string; readonly sha256: Buffer };

export function newToken(): NewToken {
  const token = randomBytes(BYTES).toString('base64url');
  return { token, sha256: digest(token) };
}

/** 160 bits, in letters and digits at which no program breaks a link, and which people can read out. */
const CODE_BYTES = 20;
const CODE_FORM = /^[0-9a-hjkmnp-tv-z]{32}$/;
const CODE_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** The secret part of a page's address, known only to people who were given it. */
export function newCode(): string {
  // Five bytes are eight digits.
  return (randomBytes(CODE_BYTES).toString('hex').match(/.{10}/g) ?? []).map(toDigits).join('');
}

export function isCode(text: string): boolean {
  return CODE_FORM.test(text);
}

/** SHA-256 of a code that is stored only as a digest; null if the text cannot be a code. */
export function hashCode(code: string): Buffer | null {
  return isCode(code) ? digest(code) : null;
}

function toDigits(fiveBytesInHex: string): string {
  const value = BigInt(`0x${fiveBytesInHex}`);
  return Array.from({ length: 8 }, (_, index) => CODE_ALPHABET.charAt(Number((value >> BigInt(5 * index)) & 31n))).join(
    '',
  );
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
