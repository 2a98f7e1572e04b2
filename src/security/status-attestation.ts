// Attests that a process of ours received an operator status. On its way to the database the status passes through Temporal's
// histories, where whoever runs that server could replace it.
import { isMacOf, macOf, type AttestedParts } from './attestation-mac.ts';
import type { KeyRing } from './sealing.ts';
import type { Environment } from '../domain/event.ts';
import type { AttestedStatus, OperatorStatus } from '../domain/payments/operator-status.ts';
import type { PaymentId } from '../domain/payments/payment.ts';

/** Where a status is attested, and with which keys. */
export type StatusKeys = { readonly environment: Environment; readonly keyRing: KeyRing };

/** The status with its attestation, valid for this payment, this query and this environment alone. The ring's first key signs. */
export function attest(id: PaymentId, status: OperatorStatus, queriedAtMs: number, keys: StatusKeys): AttestedStatus {
  const parts = partsOf(id, status, queriedAtMs, keys.environment);
  return { status, queriedAtMs, attestation: macOf(parts, keys.keyRing) };
}

/** Whether one of the ring's keys attested this very status of this payment, in this environment. */
export function isAttested(
  id: PaymentId,
  { status, queriedAtMs, attestation }: AttestedStatus,
  { environment, keyRing }: StatusKeys,
): boolean {
  return isMacOf(partsOf(id, status, queriedAtMs, environment), attestation, keyRing);
}

/** The status with what an attestation of it covers, and nothing that somebody may have added. */
export function coveredStatus(status: OperatorStatus): OperatorStatus {
  switch (status.kind) {
    case 'paid':
    case 'returned':
      return { kind: status.kind, operatorReceipt: status.operatorReceipt };
    case 'paid_otherwise': {
      const { kind, operatorReceipt, reported } = status;
      return { kind, operatorReceipt, reported: reported && { amount: reported.amount, currency: reported.currency } };
    }
    case 'declined':
    case 'refused':
      return { kind: status.kind, failureCode: status.failureCode };
    case 'pending':
    case 'not_found':
    case 'unreadable':
    case 'unknown':
      return { kind: status.kind };
  }
}

// The environment is a part of its own: the operator of `test` is a sandbox, whose word must not count in `live`, even where
// both were given the same keys by mistake.
function partsOf(id: PaymentId, status: OperatorStatus, queriedAtMs: number, environment: Environment): AttestedParts {
  return ['malipo: attested operator status', environment, id, queriedAtMs, status.kind, detailOf(status)];
}

/** Everything that the status says besides its kind. */
function detailOf(status: OperatorStatus): string | null | readonly (string | null)[] {
  switch (status.kind) {
    case 'paid':
    case 'returned':
      return status.operatorReceipt;
    case 'paid_otherwise':
      return [status.operatorReceipt, status.reported?.amount ?? null, status.reported?.currency ?? null];
    case 'declined':
    case 'refused':
      return status.failureCode;
    case 'pending':
    case 'not_found':
    case 'unreadable':
    case 'unknown':
      return null;
  }
}
