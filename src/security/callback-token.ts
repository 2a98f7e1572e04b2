// Tokens that prove that the service gave a callback address to an operator. They are not stored.
import { timingSafeEqual } from 'node:crypto';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { uuidOf } from '../domain/payments/operator-reference.ts';
import { digestsOf, type AttestedParts } from './attestation-mac.ts';
import type { KeyRing } from './sealing.ts';

const MAC_BYTES = 16;
const TOKEN = /^([0-9a-f]{32})([0-9a-f]{32})$/;

/** The last part of the address: the reference and a MAC of it, 64 hexadecimal digits that spell no word. */
export function callbackToken(operator: OperatorId, operatorReference: string, ring: KeyRing): string {
  const [digest] = digestsOf(partsOf(operator, operatorReference), ring);
  return operatorReference.replaceAll('-', '') + digest.toString('hex', 0, MAC_BYTES);
}

/** The reference of the token; null if no key of the ring made it. */
export function provenReference(operator: OperatorId, token: string, ring: KeyRing): string | null {
  const [, hex = '', given = ''] = TOKEN.exec(token) ?? [];
  if (hex === '') return null;
  const reference = uuidOf(hex);
  const mac = Buffer.from(given, 'hex');
  const digests = digestsOf(partsOf(operator, reference), ring);
  return digests.some((digest) => timingSafeEqual(digest.subarray(0, MAC_BYTES), mac)) ? reference : null;
}

function partsOf(operator: OperatorId, operatorReference: string): AttestedParts {
  return ['operator-callback', operator, operatorReference];
}
