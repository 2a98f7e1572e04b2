// Opaque tokens of sessions and invitations: 256 random bits, of which only the digest is kept.
import { createHash, randomBytes } from 'node:crypto';

const BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** SHA-256 of the token; null when it cannot be one. A plain digest is enough: nobody can try 256 bits. */
export function hashToken(token: string): Buffer | null {
  return FORM.test(token) ? digest(token) : null;
}

/** A new token with its digest. The token is shown once and never stored. */
export function newToken(): { readonly token: string; readonly sha256: Buffer } {
  const token = randomBytes(BYTES).toString('base64url');
  return { token, sha256: digest(token) };
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
