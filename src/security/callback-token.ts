// What proves that an address for callbacks is one that we gave to an operator: nothing is stored for that.
import { timingSafeEqual } from 'node:crypto';
import type { MessagePurpose, OperatorId } from '../domain/payments/operator-catalogue.ts';
import { uuidOf } from '../domain/payments/operator-reference.ts';
import { digestsOf, type AttestedParts } from './attestation-mac.ts';
import type { KeyRing } from './sealing.ts';

const MAC_BYTES = 16;
const TOKEN = /^([0-9a-f]{32})([0-9a-f]{32})$/;

/**
 * The last part of the address: the reference, or the id of a query, and a MAC of it, 64 hexadecimal digits that spell no word. Null: it is
 * for callbacks, which are hints only.
 */
export function callbackToken(
  operator: OperatorId,
  id: string,
  ring: KeyRing,
  purpose: MessagePurpose | null = null,
): string {
  const [digest] = digestsOf(partsOf(operator, id, purpose), ring);
  return id.replaceAll('-', '') + digest.toString('hex', 0, MAC_BYTES);
}

/** The reference or id that the token was made for; null: no key of the ring made it for this purpose. */
export function provenReference(
  operator: OperatorId,
  token: string,
  ring: KeyRing,
  purpose: MessagePurpose | null = null,
): string | null {
  const [, hex = '', given = ''] = TOKEN.exec(token) ?? [];
  if (hex === '') return null;
  const reference = uuidOf(hex);
  const mac = Buffer.from(given, 'hex');
  const digests = digestsOf(partsOf(operator, reference, purpose), ring);
  return digests.some((digest) => timingSafeEqual(digest.subarray(0, MAC_BYTES), mac)) ? reference : null;
}

// Some operators refuse addresses with words such as `query` or `exec`.
const SEGMENTS: Readonly<Record<MessagePurpose, string>> = { result: 'result', timeout: 'timeout', query: 'status' };

/** The part of a path that names the purpose. */
export function segmentOf(purpose: MessagePurpose): string {
  return SEGMENTS[purpose];
}

/** The path of the address for messages of this purpose about one payment or, of a query, for its answer: `id` is the query's own then. */
export function messagePath(operator: OperatorId, purpose: MessagePurpose, id: string, ring: KeyRing): string {
  return `/operators/${operator}/${segmentOf(purpose)}/${callbackToken(operator, id, ring, purpose)}`;
}

// What was made for one purpose proves nothing for another.
function partsOf(operator: OperatorId, id: string, purpose: MessagePurpose | null): AttestedParts {
  return purpose === null ? ['operator-callback', operator, id] : ['operator-message', operator, purpose, id];
}
