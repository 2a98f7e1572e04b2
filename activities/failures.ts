// Maps the errors of operations to failures that Temporal retries or not.
import { ApplicationFailureCategory } from '@temporalio/common';
import { ApplicationFailure } from '@temporalio/activity';
import { DomainError } from '../src/domain/errors.ts';
import type { ErrorCategory } from '../src/domain/error-codes.ts';

const IS_RETRYABLE: Readonly<Record<ErrorCategory, boolean>> = {
  unauthenticated: false,
  forbidden: false,
  invalid: false,
  payment_required: false,
  not_found: false,
  method_not_allowed: false,
  too_large: false,
  unsupported_media: false,
  conflict: false,
  rate_limited: true,
  unavailable: true,
  internal: true,
};

/** Runs an operation. A domain error that a retry cannot repair fails the activity; any other error is retried. */
export async function withFailures<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw ApplicationFailure.create({
      message: error.message,
      type: error.code,
      nonRetryable: !IS_RETRYABLE[error.category],
    });
  }
}

/** Temporal retries after `afterMs`, or by the policy of the activity, and shows the failure without an alarm: nobody is at fault. */
export function retriedLater(type: string, message: string, afterMs?: number): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({
    message,
    type,
    category,
    ...(afterMs !== undefined && { nextRetryDelay: afterMs }),
  });
}
