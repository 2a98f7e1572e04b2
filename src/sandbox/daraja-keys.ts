// The key pair of the sandbox operator's Daraja API, with which clients encrypt the password of their initiator.
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { certificateOf } from './daraja-certificate.ts';
import { decryptPkcs1 } from './pkcs1-decrypt.ts';

export type DarajaKeys = {
  /** The certificate as PEM. */
  certificate(): Promise<string>;
  /** The decrypted text; null if it cannot be decrypted. */
  decrypted(base64: string): Promise<string | null>;
};

const BITS = 2048;

/** Without a given key (PEM) a key is made at its first use, and another after a restart: clients must fetch the certificate again. */
export function createDarajaKeys(given: string | undefined): DarajaKeys {
  let made: Promise<KeyObject> | null = given === undefined ? null : Promise.resolve(createPrivateKey(given));
  const privateKey = () => (made ??= newKey());
  return {
    certificate: async () => certificateOf(await privateKey()),
    decrypted: async (base64) => decryptPkcs1(await privateKey(), base64),
  };
}

async function newKey(): Promise<KeyObject> {
  return (await promisify(generateKeyPair)('rsa', { modulusLength: BITS })).privateKey;
}
