// Decrypts texts that clients encrypt for the sandbox operator by RSA with the padding of PKCS#1 v1.5.
import { constants, privateDecrypt, type KeyObject } from 'node:crypto';

/**
 * The decrypted text; null if it cannot be decrypted. Node itself refuses to decrypt PKCS#1 v1.5 if the timing of its OpenSSL would tell
 * whether the padding was right. That knowledge helps no attacker here.
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
