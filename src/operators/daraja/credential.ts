// The credentials in Daraja's requests: the password of a prompt, and the initiator's password encrypted for M-Pesa.
import { constants, createPublicKey, publicEncrypt, type KeyObject } from 'node:crypto';

const NAIROBI_OFFSET_MS = 3 * 60 * 60_000;

/** The key of M-Pesa's certificate (PEM). Throws if the text is no certificate. */
export function publicKeyOf(certificate: string): KeyObject {
  return createPublicKey(certificate);
}

/** Base64 of the text, encrypted by RSA with the padding of PKCS#1 v1.5, which makes every result different. */
export function securityCredential(password: string, publicKey: KeyObject): string {
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PADDING };
  return publicEncrypt(key, Buffer.from(password)).toString('base64');
}

/** The time in Nairobi, which never changes its offset: yyyyMMddHHmmss. */
export function timestampOf(atMs: number): string {
  return new Date(atMs + NAIROBI_OFFSET_MS).toISOString().replace(/\D/g, '').slice(0, 14);
}

/** The password of a request with exactly this timestamp. */
export function promptPassword(shortcode: string, passkey: string, timestamp: string): string {
  return Buffer.from(shortcode + passkey + timestamp).toString('base64');
}
