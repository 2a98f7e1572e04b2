// Proves that an operator's answer was heard by a process of ours: on its way to the database it passes through Temporal's
// histories, where who runs that server could put another in its place.
import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { CollectionId, PayoutId, ReversalId } from '../domain/ids.ts';
import type { KeyRing } from './sealing.ts';
import type { Heard, OperatorWord } from '../domain/payments/operator-status.ts';

export type PaymentId = CollectionId | PayoutId | ReversalId;

/** The answer with its proof: for this payment only, of this moment only. The ring's first key makes it. */
export function proveHeard(id: PaymentId, word: OperatorWord, askedAtMs: number, ring: KeyRing): Heard {
  return { word, askedAtMs, proof: macOf(id, word, askedAtMs, ring[0].key).toString('base64url') };
}

/** Whether one of the ring's keys proved this very answer to be about this payment. */
export function isProven(id: PaymentId, { word, askedAtMs, proof }: Heard, ring: KeyRing): boolean {
  const given = Buffer.from(proof, 'base64url');
  return ring.some(({ key }) => {
    const mac = macOf(id, word, askedAtMs, key);
    return mac.length === given.length && timingSafeEqual(mac, given);
  });
}

// The words before it keep it apart from all else that the key is used for.
function macOf(id: PaymentId, word: OperatorWord, askedAtMs: number, key: KeyObject): Buffer {
  const said = 'operatorReceipt' in word ? word.operatorReceipt : 'failureCode' in word ? word.failureCode : null;
  const text = JSON.stringify(['malipo: what an operator said', id, askedAtMs, word.kind, said]);
  return createHmac('sha256', key).update(text).digest();
}
