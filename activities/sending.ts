// What an operator's answer to a send of money comes to.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { FailureCode } from '../src/domain/failure.ts';
import type { SendOutcome } from '../src/operators/port.ts';

export type SendResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly failureCode: FailureCode }
  /** It may not be sent any more, or is in doubt: what follows is asked of the operator. */
  | { readonly kind: 'not_sent' };

/**
 * Fails, to be tried again, when it is not known whether the operator took it. A refusal counts only where it answers the
 * one try there ever was: after a try whose end is not known it says nothing of that one.
 */
export function sendResultOf(outcome: SendOutcome, isOnlyTry: boolean): SendResult {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'taken' };
    case 'refused':
      return isOnlyTry ? { kind: 'refused', failureCode: outcome.code } : { kind: 'not_sent' };
    case 'unknown':
      throw ApplicationFailure.create({
        message: `not known whether the operator took it: ${outcome.reason}`,
        type: 'OperatorUnknown',
        category: ApplicationFailureCategory.BENIGN,
      });
  }
}
