// The key pair of the sandbox operator's Airtel API: clients encrypt secrets with the public key.
import { createDecipheriv, generateKeyPair, type KeyPairKeyObjectResult } from 'node:crypto';
import { promisify } from 'node:util';
import { decryptPkcs1 } from './pkcs1-decrypt.ts';

export type AirtelKeys = {
  /** Base64 of the public key, as Airtel publishes it. */
  publicKey(): Promise<string>;
  /** Whether the headers sign these bytes. */
  isSigned(body: string, signature: string, key: string): Promise<boolean>;
  /** The decrypted text; null if it cannot be decrypted. */
  decrypted(base64: string): Promise<string | null>;
};

const BITS = 2048;

/** The pair is made at its first use, and again after a restart: a client must fetch the new key. */
export function createAirtelKeys(): AirtelKeys {
  let made: Promise<KeyPairKeyObjectResult> | null = null;
  const pair = () => (made ??= promisify(generateKeyPair)('rsa', { modulusLength: BITS }));

  async function decrypted(base64: string): Promise<string | null> {
    return decryptPkcs1((await pair()).privateKey, base64);
  }

  return {
    async publicKey() {
      return (await pair()).publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    },
    async isSigned(body, signature, key) {
      const [aesKey, iv] = ((await decrypted(key)) ?? '').split(':').map((part) => Buffer.from(part, 'base64'));
      if (aesKey?.length !== 32 || iv?.length !== 16) return false;
      try {
        const cipher = createDecipheriv('aes-256-cbc', aesKey, iv);
        const signed = Buffer.concat([cipher.update(signature, 'base64'), cipher.final()]);
        return signed.equals(Buffer.from(body));
      } catch {
        return false;
      }
    },
    decrypted,
  };
}
