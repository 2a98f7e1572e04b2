// Maps errors of operations to what Temporal should do with them.
import { ApplicationFailure } from '@temporalio/activity';
import { DomainError, type ErrorCategory } from '../src/domain/errors.ts';

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

/** Runs an operation; a domain error that no repeat can mend ends the activity, anything else is tried again. */
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
