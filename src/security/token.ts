// Opaque tokens for sessions, invitations and recoveries: 256 random bits, of which only the digest is stored.
import { createHash, randomBytes } from 'node:crypto';

const BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** SHA-256 of the token; null when the text cannot be a token. A plain digest is enough: nobody can guess 256 bits. */
export function hashToken(token: string): Buffer | null {
  return FORM.test(token) ? digest(token) : null;
}

/** A token and its digest. The token is shown once and never stored. */
export type NewToken = { readonly token: string; readonly sha256: Buffer };

export function newToken(): NewToken {
  const token = randomBytes(BYTES).toString('base64url');
  return { token, sha256: digest(token) };
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
