// Hashes and signatures of audit logs. A holder of the public key can verify a signed head without a secret of ours.
import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign, verify, type KeyObject } from 'node:crypto';
import type { AuditHead } from '../domain/accounts/audit-chain.ts';
import type { KeyRing } from './sealing.ts';

export function hashAuditLine(line: string): Buffer {
  return createHash('sha256').update(line, 'utf8').digest();
}

export type UnsignedAuditHead = Pick<AuditHead, 'chain' | 'position' | 'hash' | 'signedAt'>;

/** Signs with a key derived from the ring's first key. */
export function signAuditHead(head: UnsignedAuditHead, ring: KeyRing): AuditHead {
  const [{ name, key }] = ring;
  const privateKey = signingKey(key);
  return {
    ...head,
    keyName: name,
    publicKey: publicKeyBytes(privateKey),
    signature: sign(null, signedText(head), privateKey),
  };
}

/**
 * Whether one of the ring's keys signed exactly this head. `unknown_key`: the signature may be right, but its key is
 * not in the ring, so anybody may have made it.
 */
export function checkAuditHead(head: AuditHead, ring: KeyRing): 'valid' | 'invalid' | 'unknown_key' {
  const own = ring.map(({ key }) => signingKey(key)).find((key) => publicKeyBytes(key).equals(head.publicKey));
  if (!own) return 'unknown_key';
  return verify(null, signedText(head), createPublicKey(own), head.signature) ? 'valid' : 'invalid';
}

/** The public keys that verify heads signed by the ring's keys. */
export function auditPublicKeys(ring: KeyRing): Buffer[] {
  return ring.map(({ key }) => publicKeyBytes(signingKey(key)));
}

// The prefix separates this use of a key from every other.
function signedText({ chain, position, hash, signedAt }: UnsignedAuditHead): Buffer {
  const parts = ['malipo: head of an audit log', chain, Number(position), hash.toString('hex'), signedAt.toISOString()];
  return Buffer.from(JSON.stringify(parts));
}

const SEED_BYTES = 32;
/** An Ed25519 private key in PKCS #8 is this and the seed (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

function signingKey(key: KeyObject): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', key, '', 'malipo: signing key of audit logs', SEED_BYTES));
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

function publicKeyBytes(privateKey: KeyObject): Buffer {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES);
}
