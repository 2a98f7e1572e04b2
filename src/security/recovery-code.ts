// Recovery codes: eighty random bits each, in place of a second factor that was lost. Only their digests are stored.
import { createHash, randomBytes } from 'node:crypto';

/** How many codes a person gets at once. */
export const RECOVERY_CODES = 10;
const BYTES = 10;
const FORM = /^[0-9a-f]{20}$/;

/** A code as it is shown: four groups of five. */
export function newRecoveryCode(): string {
  return (randomBytes(BYTES).toString('hex').match(/.{5}/g) ?? []).join('-');
}

/** SHA-256 of the code, however it is spaced; null when the text cannot be one. Nobody can guess eighty bits. */
export function hashRecoveryCode(text: string): Buffer | null {
  const code = text.replace(/[\s-]/g, '').toLowerCase();
  return FORM.test(code) ? createHash('sha256').update(code).digest() : null;
}
