// The MAC of an attestation, over a JSON text that begins with its purpose, so that no attestation passes for another.
import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { KeyRing } from './sealing.ts';

/** The attested values. The first names the purpose, which separates this use of the key from every other. */
export type AttestedParts = readonly [purpose: string, ...parts: readonly unknown[]];

/** The MAC as 43 characters of base64url. The ring's first key makes it. */
export function macOf(parts: AttestedParts, [{ key }]: KeyRing): string {
  return digestOf(parts, key).toString('base64url');
}

/** Whether one of the ring's keys made this MAC of exactly these values. */
export function isMacOf(parts: AttestedParts, mac: string, ring: KeyRing): boolean {
  const given = Buffer.from(mac, 'base64url');
  return ring.some(({ key }) => {
    const digest = digestOf(parts, key);
    return digest.length === given.length && timingSafeEqual(digest, given);
  });
}

/** The MACs of each key of the ring, the first key's first. */
export function digestsOf(parts: AttestedParts, [first, ...others]: KeyRing): readonly [Buffer, ...Buffer[]] {
  return [digestOf(parts, first.key), ...others.map(({ key }) => digestOf(parts, key))];
}

function digestOf(parts: AttestedParts, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest();
}
