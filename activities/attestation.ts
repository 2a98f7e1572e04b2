// Hears operators' answers, and lets only those be recorded that it heard.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { isProven, proveHeard, type PaymentId } from '../src/security/status-attestation.ts';
import type { Money } from '../src/domain/money.ts';
import type { KeyRing } from '../src/security/sealing.ts';
import {
  followsFrom,
  needsWord,
  type Heard,
  type RecordedFact,
  type OperatorWord,
} from '../src/domain/payments/operator-status.ts';
import type { Log } from '../src/log.ts';
import { isPaidAsAsked } from '../src/operators/paid-money.ts';
import type { SendOutcome, StatusOutcome } from '../src/operators/port.ts';

export type SendResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly heard: Heard }
  /** It may not be sent any more, or is in doubt: what follows is asked of the operator. */
  | { readonly kind: 'not_sent' };

/** A question or a send that is about to be made; `askedAtMs` is before it. */
export type Asking = { readonly id: PaymentId; readonly askedAtMs: number };

export type Witness = ReturnType<typeof createWitness>;

export function createWitness({ keyRing, log }: { readonly keyRing: KeyRing; readonly log: Log }) {
  function hear({ id, askedAtMs }: Asking, word: OperatorWord): Heard {
    return proveHeard(id, word, askedAtMs, keyRing);
  }

  function neverHeard(id: PaymentId, fact: RecordedFact['fact'] | 'contradiction'): ApplicationFailure {
    log.fatal({ id, fact }, 'an answer of the operator that we never heard was about to be recorded');
    return ApplicationFailure.nonRetryable(`nobody heard of ${id} what would be recorded`, 'NeverHeard');
  }

  return {
    /** What the operator says now. A paid amount that is not what we asked for, to the unit, is not believed. */
    hearStatus(asking: Asking, outcome: StatusOutcome, asked: Money): Heard {
      if ('paid' in outcome && !isPaidAsAsked(outcome.paid, asked)) {
        log.error({ id: asking.id, paid: outcome.paid }, 'the operator says paid, but not what was asked for');
        return hear(asking, { kind: 'unknown' });
      }
      return hear(asking, wordOf(outcome));
    },

    /**
     * Fails, to be tried again, when it is not known whether the operator took it. A refusal counts only where it answers
     * the one try there ever was: after a try whose end is not known it says nothing of that one.
     */
    hearSend(asking: Asking, outcome: SendOutcome, isOnlyTry: boolean): SendResult {
      switch (outcome.kind) {
        case 'accepted':
          return { kind: 'taken' };
        case 'refused':
          log.info({ id: asking.id, operatorCode: outcome.operatorCode }, 'the operator refused it');
          if (!isOnlyTry) return { kind: 'not_sent' };
          return { kind: 'refused', heard: hear(asking, { kind: 'declined', failureCode: outcome.code }) };
        case 'unknown':
          throw ApplicationFailure.create({
            message: `not known whether the operator took it: ${outcome.reason}`,
            type: 'OperatorUnknown',
            category: ApplicationFailureCategory.BENIGN,
          });
      }
    },

    /** Throws, never to be tried again, unless we heard it and the fact is what it says; and somebody must look. */
    requireHeard(id: PaymentId, fact: RecordedFact, heard: Heard | null): void {
      if (!needsWord(fact) || (heard && isProven(id, heard, keyRing) && followsFrom(fact, heard))) return;
      throw neverHeard(id, fact.fact);
    },

    /** The same of a contradiction: settled by a person, a made-up one would hide the true one that comes after it. */
    requireProof(id: PaymentId, heard: Heard): void {
      if (!isProven(id, heard, keyRing)) throw neverHeard(id, 'contradiction');
    },
  };
}

function wordOf(outcome: StatusOutcome): OperatorWord {
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
