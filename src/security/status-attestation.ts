// Proves that an operator's answer was heard by a process of ours: on its way to the database it passes through Temporal's
// histories, where who runs that server could put another in its place.
import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { CollectionId, PayoutId, ReversalId } from '../domain/ids.ts';
import type { KeyRing } from './sealing.ts';
import type { AttestedStatus, OperatorStatus } from '../domain/payments/operator-status.ts';

export type PaymentId = CollectionId | PayoutId | ReversalId;

/** The answer with its proof: for this payment only, of this moment only. The ring's first key makes it. */
export function attest(id: PaymentId, status: OperatorStatus, queriedAtMs: number, ring: KeyRing): AttestedStatus {
  return { status, queriedAtMs, attestation: macOf(id, status, queriedAtMs, ring[0].key).toString('base64url') };
}

/** Whether one of the ring's keys proved this very answer to be about this payment. */
export function isAttested(
  id: PaymentId,
  { status, queriedAtMs, attestation }: AttestedStatus,
  ring: KeyRing,
): boolean {
  const given = Buffer.from(attestation, 'base64url');
  return ring.some(({ key }) => {
    const mac = macOf(id, status, queriedAtMs, key);
    return mac.length === given.length && timingSafeEqual(mac, given);
  });
}

// The words before it keep it apart from all else that the key is used for.
function macOf(id: PaymentId, status: OperatorStatus, queriedAtMs: number, key: KeyObject): Buffer {
  const said =
    'operatorReceipt' in status ? status.operatorReceipt : 'failureCode' in status ? status.failureCode : null;
  const text = JSON.stringify(['malipo: what an operator said', id, queriedAtMs, status.kind, said]);
  return createHmac('sha256', key).update(text).digest();
}
