// Hears operators' answers, and lets only those be recorded that it heard.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { isAttested, attest, type PaymentId } from '../src/security/status-attestation.ts';
import type { Money } from '../src/domain/money.ts';
import type { KeyRing } from '../src/security/sealing.ts';
import {
  followsFrom,
  needsOperatorStatus,
  type AttestedStatus,
  type PaymentTransitionInput,
  type OperatorStatus,
} from '../src/domain/payments/operator-status.ts';
import type { Log } from '../src/log.ts';
import { isPaidAsAsked } from '../src/operators/paid-money.ts';
import type { SendOutcome, StatusOutcome } from '../src/operators/port.ts';

export type SendResult =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly attested: AttestedStatus }
  /** It may not be sent any more, or is in doubt: what follows is asked of the operator. */
  | { readonly kind: 'not_sent' };

/** A question or a send that is about to be made; `askedAtMs` is before it. */
export type PendingQuery = { readonly id: PaymentId; readonly queriedAtMs: number };

export type StatusAttestor = ReturnType<typeof createStatusAttestor>;

export function createStatusAttestor({ keyRing, log }: { readonly keyRing: KeyRing; readonly log: Log }) {
  function hear({ id, queriedAtMs }: PendingQuery, status: OperatorStatus): AttestedStatus {
    return attest(id, status, queriedAtMs, keyRing);
  }

  function notAttested(
    id: PaymentId,
    transition: PaymentTransitionInput['kind'] | 'contradiction',
  ): ApplicationFailure {
    log.fatal({ id, transition }, 'an answer of the operator that we never heard was about to be recorded');
    return ApplicationFailure.nonRetryable(`nobody heard of ${id} what would be recorded`, 'NotAttested');
  }

  return {
    /** What the operator says now. A paid amount that is not what we asked for, to the unit, is not believed. */
    attestStatus(query: PendingQuery, outcome: StatusOutcome, asked: Money): AttestedStatus {
      if ('paid' in outcome && !isPaidAsAsked(outcome.paid, asked)) {
        log.error({ id: query.id, paid: outcome.paid }, 'the operator says paid, but not what was asked for');
        return hear(query, { kind: 'unknown' });
      }
      return hear(query, statusOf(outcome));
    },

    /**
     * Fails, to be tried again, when it is not known whether the operator took it. A refusal counts only where it answers
     * the one try there ever was: after a try whose end is not known it says nothing of that one.
     */
    attestSend(query: PendingQuery, outcome: SendOutcome, isOnlyTry: boolean): SendResult {
      switch (outcome.kind) {
        case 'accepted':
          return { kind: 'accepted' };
        case 'refused':
          log.info({ id: query.id, operatorCode: outcome.operatorCode }, 'the operator refused it');
          if (!isOnlyTry) return { kind: 'not_sent' };
          return { kind: 'refused', attested: hear(query, { kind: 'declined', failureCode: outcome.code }) };
        case 'unknown':
          throw ApplicationFailure.create({
            message: `not known whether the operator took it: ${outcome.reason}`,
            type: 'OperatorUnknown',
            category: ApplicationFailureCategory.BENIGN,
          });
      }
    },

    /** Throws, never to be tried again, unless we heard it and the fact is what it says; and somebody must look. */
    requireAttested(id: PaymentId, transition: PaymentTransitionInput, attested: AttestedStatus | null): void {
      if (
        !needsOperatorStatus(transition) ||
        (attested && isAttested(id, attested, keyRing) && followsFrom(transition, attested))
      )
        return;
      throw notAttested(id, transition.kind);
    },

    /** The same of a contradiction: settled by a person, a made-up one would hide the true one that comes after it. */
    requireAttestation(id: PaymentId, attested: AttestedStatus): void {
      if (!isAttested(id, attested, keyRing)) throw notAttested(id, 'contradiction');
    },
  };
}

function statusOf(outcome: StatusOutcome): OperatorStatus {
  switch (outcome.kind) {
    case 'pending':
    case 'not_found':
    case 'unknown':
      return { kind: outcome.kind };
    case 'succeeded':
      return { kind: 'paid', operatorReceipt: outcome.receipt };
    case 'returned':
      return { kind: 'returned', operatorReceipt: outcome.receipt };
    case 'failed':
      return { kind: 'declined', failureCode: outcome.code };
  }
}
