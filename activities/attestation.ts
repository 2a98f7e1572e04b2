// Attests operator statuses as they arrive, and requires an attested status before a transition is recorded.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Money } from '../src/domain/money.ts';
import type { FailureCode } from '../src/domain/payments/failure.ts';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import {
  followsFrom,
  hasPayment,
  needsOperatorStatus,
  type AttestedStatus,
  type OperatorStatus,
  type PaymentTransitionInput,
} from '../src/domain/payments/operator-status.ts';
import type { PaymentId } from '../src/domain/payments/payment.ts';
import type { Log } from '../src/log.ts';
import { isPaidAsRequested } from '../src/operators/paid-money.ts';
import type { SendOutcome, StatusOutcome } from '../src/operators/port.ts';
import { open, seal, type KeyRing } from '../src/security/sealing.ts';
import { attest, coveredStatus, isAttested, type StatusKeys } from '../src/security/status-attestation.ts';

/** `recorded`: the payment as it is since what follows from the result is recorded; without it that is still to be done. */
export type SendResult =
  | { readonly kind: 'accepted'; readonly attested: AttestedStatus; readonly recorded?: PaymentSnapshot }
  | {
      readonly kind: 'refused';
      readonly failureCode: FailureCode;
      readonly attested: AttestedStatus;
      readonly recorded?: PaymentSnapshot;
    }
  /** It may not be sent any more, or it is in doubt whether it was: the operator is queried for its status. */
  | { readonly kind: 'not_sent' }
  /** Nothing was done, because enough workflow tasks wait for sends. */
  | { readonly kind: 'busy' };

/** A query or send that is about to be made. `queriedAtMs` is the time before it. */
export type PendingQuery = { readonly id: PaymentId; readonly queriedAtMs: number };

export type StatusAttestor = ReturnType<typeof createStatusAttestor>;

export type StatusAttestorDeps = StatusKeys & {
  /** Seal what only the recorder may read. */
  readonly sealingKeys: KeyRing;
  readonly log: Log;
};

export function createStatusAttestor({ environment, keyRing, sealingKeys, log }: StatusAttestorDeps) {
  const keys = { environment, keyRing };
  const attestOf = ({ id, queriedAtMs }: PendingQuery, status: OperatorStatus) => attest(id, status, queriedAtMs, keys);

  return {
    /** The attested status. With other money than we requested, to the unit, or none to be read, it is `paid_otherwise`. */
    attestStatus(query: PendingQuery, outcome: StatusOutcome, requested: Money): AttestedStatus {
      if (outcome.kind === 'unreadable' || outcome.kind === 'paid_unreadable') {
        log.error(
          { id: query.id, reason: outcome.reason },
          'the operator has the payment, but the status cannot be read',
        );
      }
      if ('paid' in outcome && !isPaidAsRequested(outcome.paid, requested)) {
        const reported = { ...outcome.paid, amount: seal(outcome.paid.amount, query.id, sealingKeys) };
        return attestOf(query, { kind: 'paid_otherwise', operatorReceipt: outcome.receipt, reported });
      }
      return attestOf(query, statusOf(outcome));
    },

    /**
     * Throws, to be retried, when it is unknown whether the operator accepted the payment. A refusal counts only if
     * there was no other try: it says nothing about an earlier try of unknown outcome.
     */
    attestSend(query: PendingQuery, outcome: SendOutcome, isOnlyTry: boolean): SendResult {
      switch (outcome.kind) {
        case 'accepted':
          return { kind: 'accepted', attested: attestOf(query, { kind: 'pending' }) };
        case 'refused': {
          const { code: failureCode, operatorCode } = outcome;
          log.info({ id: query.id, operatorCode }, 'the operator refused the payment');
          if (!isOnlyTry) return { kind: 'not_sent' };
          return { kind: 'refused', failureCode, attested: attestOf(query, { kind: 'refused', failureCode }) };
        }
        case 'unknown':
          throw ApplicationFailure.create({
            message: `unknown whether the operator accepted the payment: ${outcome.reason}`,
            type: 'OperatorUnknown',
            category: ApplicationFailureCategory.BENIGN,
          });
      }
    },

    /**
     * Throws unless the transition needs no status or an attested status supports it. A retry does not help: a person
     * must look into it.
     */
    requireAttested(id: PaymentId, transition: PaymentTransitionInput, attested: AttestedStatus | null): void {
      if (!needsOperatorStatus(transition)) return;
      if (attested && isAttested(id, attested, keys) && followsFrom(transition, attested)) return;
      throw notAttested(id, transition.kind, log);
    },

    /**
     * The status that the attestation covers, with the amount that it reports, if any, opened for the recorder. Throws in
     * the same way unless it is attested: a forged contradiction that a person settled would hide a true one that follows.
     */
    readAttested(id: PaymentId, attested: AttestedStatus): OperatorStatus {
      if (!isAttested(id, attested, keys)) throw notAttested(id, 'status', log);
      return openReported(id, coveredStatus(attested.status), { sealingKeys, log });
    },

    /** Throws in the same way unless the operator says that it has the payment: to hold money for good is an outcome too. */
    requireAcceptance(id: PaymentId, attested: AttestedStatus): void {
      if (isAttested(id, attested, keys) && hasPayment(attested.status)) return;
      throw notAttested(id, 'accepted', log);
    },
  };
}

type Unattested = PaymentTransitionInput['kind'] | 'accepted' | 'status';

function notAttested(id: PaymentId, kind: Unattested, log: Log): ApplicationFailure {
  log.fatal({ id, kind }, 'an operator status without our attestation was refused');
  return ApplicationFailure.nonRetryable(`the status of ${id} that would be recorded is not attested`, 'NotAttested');
}

type Opening = Pick<StatusAttestorDeps, 'sealingKeys' | 'log'>;

/** Without an amount, and with a line in the log, if its key is gone: that there is a contradiction matters more than how much. */
function openReported(id: PaymentId, status: OperatorStatus, { sealingKeys, log }: Opening): OperatorStatus {
  if (status.kind !== 'paid_otherwise' || status.reported === null) return status;
  try {
    return { ...status, reported: { ...status.reported, amount: open(status.reported.amount, id, sealingKeys) } };
  } catch (error) {
    log.error({ id, error }, 'an amount that the operator reports cannot be opened: MALIPO_SECRET_KEYS lacks a key');
    return { ...status, reported: null };
  }
}

function statusOf(outcome: StatusOutcome): OperatorStatus {
  switch (outcome.kind) {
    case 'pending':
    case 'not_found':
    case 'unreadable':
    case 'unknown':
      return { kind: outcome.kind };
    case 'paid_unreadable':
      return { kind: 'paid_otherwise', operatorReceipt: outcome.receipt, reported: null };
    case 'succeeded':
      return { kind: 'paid', operatorReceipt: outcome.receipt };
    case 'returned':
      return { kind: 'returned', operatorReceipt: outcome.receipt };
    case 'failed':
      return { kind: 'declined', failureCode: outcome.code };
  }
}
