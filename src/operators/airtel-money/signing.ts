// Encrypts for Airtel: the key that signs the bytes of a request, and the PIN of our wallet.
import { constants, createCipheriv, createPublicKey, publicEncrypt, randomBytes, type KeyObject } from 'node:crypto';

type SignatureHeaders = { readonly 'x-signature': string; readonly 'x-key': string };

/** The key in the text that Airtel publishes, base64 of a SubjectPublicKeyInfo; null if the text holds no RSA key. */
export function readPublicKey(base64: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'rsa' ? key : null;
  } catch {
    return null;
  }
}

/**
 * The headers that sign exactly these bytes: the bytes are encrypted with a key of their own, which only the holder of Airtel's private
 * key can read. `secrets` are the key and its vector, 32 and 16 bytes, new for every request.
 */
export function signatureOf(
  body: string,
  publicKey: KeyObject,
  secrets = { key: randomBytes(32), iv: randomBytes(16) },
): SignatureHeaders {
  const { key, iv } = secrets;
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  const signature = Buffer.concat([cipher.update(body, 'utf8'), cipher.final()]);
  return {
    'x-signature': signature.toString('base64'),
    'x-key': encrypted(`${key.toString('base64')}:${iv.toString('base64')}`, publicKey),
  };
}

/** Base64 of the text, encrypted by RSA with the padding of PKCS#1 v1.5. */
export function encrypted(text: string, publicKey: KeyObject): string {
  return publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(text)).toString('base64');
}
