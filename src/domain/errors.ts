// Every error that a caller can receive: one closed list of codes, each with its type and its category.

/** What a caller can do about an error. The API maps it to an HTTP status, activities map it to "retry or not". */
export type ErrorCategory =
  | 'unauthenticated'
  | 'forbidden'
  | 'invalid'
  | 'payment_required'
  | 'not_found'
  | 'method_not_allowed'
  | 'too_large'
  | 'unsupported_media'
  | 'conflict'
  | 'rate_limited'
  | 'unavailable'
  | 'internal';

export type ErrorType =
  | 'authentication_error'
  | 'permission_error'
  | 'invalid_request_error'
  | 'idempotency_error'
  | 'payment_error'
  | 'rate_limit_error'
  | 'api_error';

const CODES = {
  api_key_missing: ['authentication_error', 'unauthenticated'],
  api_key_invalid: ['authentication_error', 'unauthenticated'],
  api_key_wrong_environment: ['authentication_error', 'unauthenticated'],
  api_key_expired: ['authentication_error', 'unauthenticated'],
  api_key_revoked: ['authentication_error', 'unauthenticated'],
  insufficient_scope: ['permission_error', 'forbidden'],
  permission_denied: ['permission_error', 'forbidden'],
  parameter_missing: ['invalid_request_error', 'invalid'],
  parameter_invalid: ['invalid_request_error', 'invalid'],
  parameter_unknown: ['invalid_request_error', 'invalid'],
  phone_invalid: ['invalid_request_error', 'invalid'],
  phone_unsupported: ['invalid_request_error', 'invalid'],
  amount_out_of_bounds: ['invalid_request_error', 'invalid'],
  body_malformed: ['invalid_request_error', 'invalid'],
  cursor_invalid: ['invalid_request_error', 'invalid'],
  collection_not_found: ['invalid_request_error', 'not_found'],
  reversal_not_found: ['invalid_request_error', 'not_found'],
  payout_not_found: ['invalid_request_error', 'not_found'],
  member_not_found: ['invalid_request_error', 'not_found'],
  invitation_not_found: ['invalid_request_error', 'not_found'],
  api_key_not_found: ['invalid_request_error', 'not_found'],
  policy_change_not_found: ['invalid_request_error', 'not_found'],
  endpoint_not_found: ['invalid_request_error', 'not_found'],
  event_not_found: ['invalid_request_error', 'not_found'],
  delivery_not_found: ['invalid_request_error', 'not_found'],
  replay_not_found: ['invalid_request_error', 'not_found'],
  request_not_found: ['invalid_request_error', 'not_found'],
  checkout_not_found: ['invalid_request_error', 'not_found'],
  member_change_not_found: ['invalid_request_error', 'not_found'],
  passkey_not_found: ['invalid_request_error', 'not_found'],
  session_not_found: ['invalid_request_error', 'not_found'],
  route_not_found: ['invalid_request_error', 'not_found'],
  method_not_allowed: ['invalid_request_error', 'method_not_allowed'],
  body_too_large: ['invalid_request_error', 'too_large'],
  media_type_unsupported: ['invalid_request_error', 'unsupported_media'],
  idempotency_key_missing: ['idempotency_error', 'invalid'],
  idempotency_key_invalid: ['idempotency_error', 'invalid'],
  idempotency_key_reused: ['idempotency_error', 'conflict'],
  idempotency_key_in_flight: ['idempotency_error', 'conflict'],
  balance_insufficient: ['payment_error', 'payment_required'],
  state_conflict: ['payment_error', 'conflict'],
  approval_self: ['payment_error', 'conflict'],
  rate_limited: ['rate_limit_error', 'rate_limited'],
  internal_error: ['api_error', 'internal'],
  service_unavailable: ['api_error', 'unavailable'],
} as const satisfies Record<string, readonly [ErrorType, ErrorCategory]>;

export type ErrorCode = keyof typeof CODES;
export const ERROR_CODES = Object.keys(CODES) as ErrorCode[];

/** One problem with one parameter of a request. */
export type ParameterIssue = { readonly param: string; readonly code: ErrorCode; readonly message: string };

type Details = {
  readonly issues?: readonly ParameterIssue[];
  readonly retryAfterSeconds?: number;
  /** The reason as the audit log records it. No response contains it. */
  readonly reason?: string;
  /** In place of the category of the code. */
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
  return CODES[code][0];
}

export function errorCategory(code: ErrorCode): ErrorCategory {
  return CODES[code][1];
}

/** One error for all problems with a request. Its code and message are those of the first issue. */
export function invalidParameters(issues: readonly [ParameterIssue, ...ParameterIssue[]]): DomainError {
  return new DomainError(issues[0].code, issues[0].message, { issues });
}

/** One error for an unknown id and for a payment of another merchant. */
export function paymentNotFound(kind: 'collection' | 'payout' | 'reversal'): DomainError {
  return new DomainError(`${kind}_not_found`, `There is no ${kind} with this id.`);
}

/** Too many accepted payments wait, in all or of this merchant: new ones are refused, repeats get their stored response. */
export function backlogFull(): DomainError {
  return new DomainError(
    'service_unavailable',
    'Too many payments are waiting to be processed. Try again with the same key.',
    {
      retryAfterSeconds: 5,
    },
  );
}

/** The database does not answer, or not in time: nothing is recorded, or nobody knows whether it is. */
export function recordsUnavailable(): DomainError {
  return new DomainError('service_unavailable', 'We cannot record anything right now. Try again with the same key.', {
    retryAfterSeconds: 2,
  });
}

/** The body of every error response. `errors` lists all problems with a request; `param` is that of the first. */
export function errorBody(error: DomainError, requestId: string) {
  return {
    error: {
      type: errorType(error.code),
      code: error.code,
      message: error.message,
      param: error.issues[0]?.param ?? null,
      request_id: requestId,
      errors: error.issues.map(({ param, code, message }) => ({ param, code, message })),
    },
  };
}
