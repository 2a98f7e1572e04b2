// Passwords: argon2id with 19 MiB, two passes, one lane (OWASP's and RFC 9106's smaller setting).
import { hash, verify } from '@node-rs/argon2';

/** The only rule: length. Rules about kinds of characters make worse passwords. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 200;

// argon2id is the library's default kind; its enum cannot be used with isolated modules.
const SETTING = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

// Of a random text that nobody kept: what is compared with it takes as long as any, and never fits.
const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$8TFJRdISAzBGyagnxGiwBg$n3shXtVYssAkCRpdYJxw3tJ0BmEvXUS7oAeAibyNbG0';

/** About 20 ms of a thread, and 19 MiB while it lasts. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFC'), SETTING);
}

/** Whether the password is the hash's; null is nobody's hash, and takes as long to refuse. */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const isRight = await verify(passwordHash ?? NOBODYS_HASH, password.normalize('NFC'));
  return isRight && passwordHash !== null;
}
