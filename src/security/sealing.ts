// Sealing of secrets at rest: AES-256-GCM with named keys from the configuration, so that keys can be rotated.
import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

/** Named keys of 32 bytes. The first one seals; all of them open. Key objects cannot be printed by accident. */
export type KeyRing = readonly [NamedKey, ...NamedKey[]];
type NamedKey = { readonly name: string; readonly key: KeyObject };

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The secret, sealed as `<key name>.<base64url of iv, tag and ciphertext>`. `context` is the id of the row that stores
 * it. It is authenticated too, so that a copy in another row cannot be opened.
 */
export function seal(secret: string, context: string, ring: KeyRing): string {
  const { name, key } = ring[0];
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `${name}.${Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
}

/** The secret that was sealed for this context. Throws if its key is not in the ring or the text was altered. */
export function open(sealed: string, context: string, ring: KeyRing): string {
  const dot = sealed.indexOf('.');
  const name = sealed.slice(0, dot);
  const entry = ring.find((candidate) => candidate.name === name);
  if (!entry) throw new Error(`no key named "${name}" to open a stored secret with`);
  const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', entry.key, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
}

/** As `open`, but null instead of an error. */
export function tryToOpen(sealed: string, context: string, ring: KeyRing): string | null {
  try {
    return open(sealed, context, ring);
  } catch {
    return null;
  }
}
