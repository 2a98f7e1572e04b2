// What Daraja wants as a proof of who asks: the password of a prompt, and the initiator's password encrypted for M-Pesa.
import { constants, createPublicKey, publicEncrypt, type KeyObject } from 'node:crypto';

const NAIROBI_OFFSET_MS = 3 * 60 * 60_000;

/** The key of M-Pesa's certificate, as PEM. Throws for what is none. */
export function publicKeyOf(certificate: string): KeyObject {
  return createPublicKey(certificate);
}

/** Base64 of the text, encrypted by RSA with the padding of PKCS#1 v1.5, which makes another text each time. */
export function securityCredential(password: string, publicKey: KeyObject): string {
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PADDING };
  return publicEncrypt(key, Buffer.from(password)).toString('base64');
}

/** The time in Nairobi, which never changes its offset: yyyyMMddHHmmss. */
export function timestampOf(atMs: number): string {
  return new Date(atMs + NAIROBI_OFFSET_MS).toISOString().replace(/\D/g, '').slice(0, 14);
}

/** Of a request with this very timestamp. */
export function promptPassword(shortcode: string, passkey: string, timestamp: string): string {
  return Buffer.from(shortcode + passkey + timestamp).toString('base64');
}
