// The errors that a caller can receive.
import { ERRORS, type ErrorCategory, type ErrorType } from './error-codes.ts';

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

export type ParameterIssue = { readonly param: string; readonly code: ErrorCode; readonly message: string };

type Details = {
  readonly issues?: readonly ParameterIssue[];
  readonly retryAfterSeconds?: number;
  /** The reason for the audit log. No response contains it. */
  readonly reason?: string;
  /** Replaces the category of the code. */
  readonly category?: ErrorCategory;
};

/** An expected error. Its message is for the caller: it says what to do next and contains no internals. */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly ParameterIssue[];
  readonly retryAfterSeconds: number | undefined;
  readonly reason: string | undefined;
  readonly category: ErrorCategory;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.issues = details.issues ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.reason = details.reason;
    this.category = details.category ?? errorCategory(code);
  }

  get type(): ErrorType {
    return errorType(this.code);
  }
}

export function errorType(code: ErrorCode): ErrorType {
  return ERRORS[code].type;
}

export function errorCategory(code: ErrorCode): ErrorCategory {
  return ERRORS[code].category;
}

/** One error for all faults of a request. Its code and message are those of the first issue. */
export function invalidParameters(issues: readonly [ParameterIssue, ...ParameterIssue[]]): DomainError {
  return new DomainError(issues[0].code, issues[0].message, { issues });
}

const NOT_FOUND = {
  collection: 'There is no collection with this id.',
  payout: 'There is no payout with this id.',
  reversal: 'There is no reversal with this id.',
  checkout: 'There is no checkout with this id.',
  endpoint: 'There is no endpoint with this id. Look it up in the list of endpoints.',
  event: 'There is no event with this id. Look it up in the list of events.',
  delivery: 'There is no delivery with this id. Look it up in the list of deliveries.',
  replay: 'There is no replay with this id. Look it up in the list of replays.',
  api_key: 'There is no API key with this id. Look it up in the list of keys.',
  request:
    'The request log has no request with this id. The request may be too old, or it came from a session: the log has requests of API keys only.',
  member: 'There is no member with this id. Look it up in the list of members.',
  invitation: 'This invitation does not exist or is no longer open. Ask for a new one.',
  member_change: 'There is no proposal with this id. The list of members shows the pending proposals.',
  policy_change: 'There is no proposal with this id. The policy shows the pending proposals.',
  session: 'You have no session with this id. Look it up in the list of your sessions.',
  passkey: 'You have no passkey with this id. Look it up in the list of your passkeys.',
} as const;

/**
 * One error for an unknown id, for a removed object, and for an object of another merchant or person. For an invitation
 * also for an unknown token, and after it was accepted, withdrawn or rejected or has expired.
 */
export function notFound(noun: keyof typeof NOT_FOUND): DomainError {
  return new DomainError(`${noun}_not_found`, NOT_FOUND[noun]);
}

/** The state of an object does not allow the request. The message says what to do instead. */
export function stateConflict(message: string): DomainError {
  return new DomainError('state_conflict', message);
}

/** Too many accepted payments wait, in all or of this merchant. New ones are refused, repeats get their response. */
export function backlogFull(): DomainError {
  const message = 'Too many payments are waiting to be processed. Try again with the same key.';
  return new DomainError('service_unavailable', message, { retryAfterSeconds: 5 });
}

/** The database does not answer in time: nothing is recorded, or it is unknown whether it is. */
export function recordsUnavailable(): DomainError {
  const message = 'We cannot record anything right now. Try again with the same key.';
  return new DomainError('service_unavailable', message, { retryAfterSeconds: 2 });
}

/** The database was set back: nothing new is recorded before people have opened the service again. */
export function inRecovery(): DomainError {
  const message =
    'Our records were restored and are being compared with those of the operators: nothing is sent or decided meanwhile. Try again ' +
    'later with the same key, and with no other: the payment may have been made.';
  return new DomainError('service_unavailable', message, { retryAfterSeconds: 60 });
}

/** For seconds nobody knows whether the database is the right one. */
export function notFenced(): DomainError {
  return new DomainError(
    'service_unavailable',
    'We can send and decide nothing right now. Try again with the same key.',
    {
      retryAfterSeconds: 5,
    },
  );
}

/** The result, or null if it throws a DomainError. */
export async function nullOnDomainError<Result>(decide: () => Result | Promise<Result>): Promise<Result | null> {
  try {
    return await decide();
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

/** The body of every error response. `errors` lists all faults of a request; `param` is the first one's. */
export function errorBody(error: DomainError, requestId: string) {
  return {
    error: {
      type: error.type,
      code: error.code,
      message: error.message,
      param: error.issues[0]?.param ?? null,
      request_id: requestId,
      errors: error.issues.map(({ param, code, message }) => ({ param, code, message })),
    },
  };
}
