// What proves that an address for callbacks is one that we gave to an operator: nothing is stored for that.
import { timingSafeEqual } from 'node:crypto';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { digestsOf } from './attestation-mac.ts';
import type { KeyRing } from './sealing.ts';

const MAC_BYTES = 16;
const TOKEN = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})([0-9a-f]{32})$/;

/** The last part of the address: the reference and a MAC of it, 64 hexadecimal digits that spell no word. */
export function callbackToken(operator: OperatorId, operatorReference: string, ring: KeyRing): string {
  const [mac] = macsOf(operator, operatorReference, ring);
  return operatorReference.replaceAll('-', '') + mac.toString('hex');
}

/** The reference that a key of the ring proves to be ours; null: none. */
export function provenReference(operator: OperatorId, token: string, ring: KeyRing): string | null {
  const [, ...parts] = TOKEN.exec(token) ?? [];
  const given = parts.pop();
  if (given === undefined) return null;
  const reference = parts.join('-');
  const isProven = macsOf(operator, reference, ring).some((mac) => timingSafeEqual(mac, Buffer.from(given, 'hex')));
  return isProven ? reference : null;
}

function macsOf(operator: OperatorId, reference: string, ring: KeyRing): readonly [Buffer, ...Buffer[]] {
  const [first, ...others] = digestsOf(['operator-callback', operator, reference], ring);
  return [first.subarray(0, MAC_BYTES), ...others.map((digest) => digest.subarray(0, MAC_BYTES))];
}
