// Passwords: argon2id with 19 MiB, two passes and one lane (the smaller setting of OWASP and RFC 9106).
import { hash, verify } from '@node-rs/argon2';

/** A new password must also not be easily guessed. Rules about kinds of characters lead to worse passwords. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 200;

// The variant is argon2id, the library's default. The library's enum for it does not work with isolated modules.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

// The hash of a discarded random text: no password matches it, and a comparison takes as long as with any other hash.
const UNMATCHABLE_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$8TFJRdISAzBGyagnxGiwBg$n3shXtVYssAkCRpdYJxw3tJ0BmEvXUS7oAeAibyNbG0';

/** Takes about 20 ms of a thread, and 19 MiB while it runs. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFC'), COST);
}

/** Whether the password matches the hash. For null (no such account) the result is false, after the same time. */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const isMatch = await verify(passwordHash ?? UNMATCHABLE_HASH, password.normalize('NFC'));
  return isMatch && passwordHash !== null;
}
