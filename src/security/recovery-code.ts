// Recovery codes: eighty random bits each, to replace a lost second factor. Only keyed digests are stored.
import { randomBytes } from 'node:crypto';

export const RECOVERY_CODES = 10;
const BYTES = 10;
const FORM = /^[0-9a-f]{20}$/;

/** A code as it is shown: four groups of five. Nobody can guess eighty bits. */
export function newRecoveryCode(): string {
  return (randomBytes(BYTES).toString('hex').match(/.{5}/g) ?? []).join('-');
}

/** The code in one form, whatever its spacing; null if the text cannot be a code. */
export function readRecoveryCode(text: string): string | null {
  const code = text.replace(/[\s-]/g, '').toLowerCase();
  return FORM.test(code) ? code : null;
}
