// Every error code that a caller can receive, one closed list: its type, category, cause and remedy.

/** What a caller can do about an error. The API maps it to an HTTP status, activities map it to retry or not. */
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

/** Sentences in Markdown, from which the pages of errors are made. */
type Explanation = { readonly cause: string; readonly remedy: string };

type Meaning = Explanation & { readonly type: ErrorType; readonly category: ErrorCategory };

function allOf<Code extends string>(
  type: ErrorType,
  category: ErrorCategory,
  explanations: Readonly<Record<Code, Explanation>>,
): Readonly<Record<Code, Meaning>> {
  const meanings = Object.entries<Explanation>(explanations).map(([code, each]) => [code, { type, category, ...each }]);
  return Object.fromEntries(meanings) as Record<Code, Meaning>;
}

const NOT_YOURS = 'No object has this id, or the object belongs to another merchant. Both cases look the same.';
const CHECK_ID = 'Check the id. Check that the key and the id belong to the same merchant and environment.';

export const ERRORS = {
  ...allOf('authentication_error', 'unauthenticated', {
    api_key_missing: {
      cause: 'The request has no `Authorization` header.',
      remedy: 'Send `Authorization: Bearer sk_test_…` with every request.',
    },
    api_key_invalid: {
      cause:
        'The header is not `Bearer` followed by a key, or the key does not exist. The usual reason is a key that was not copied completely.',
      remedy: 'Copy the whole key again, or create one in the console under *Developers*.',
    },
    api_key_wrong_environment: {
      cause: 'A key of `test` was sent to `live`, or the other way round.',
      remedy: 'Use the key of the environment that you call: `sk_test_` or `sk_live_`.',
    },
    api_key_expired: {
      cause: 'The key was created or rolled with an expiry, and that time has passed.',
      remedy: 'Roll the key in the console and put the new one into your configuration.',
    },
    api_key_revoked: {
      cause: 'Somebody in your team revoked the key. The audit log says who and when.',
      remedy: 'Create another key. If nobody in your team revoked it, tell us at once.',
    },
  }),
  ...allOf('permission_error', 'forbidden', {
    insufficient_scope: {
      cause: 'The key is valid and lacks the scope that this route needs; the message names it.',
      remedy: 'Create a key with that scope, for the one service that needs it.',
    },
    permission_denied: {
      cause:
        'The session or the roles of the person do not allow this, or the service never gave this address to the operator. The response gives no further reason.',
      remedy:
        'Log in again, or ask an owner or admin for the role. `GET /v1/console/session` says what the session may do.',
    },
  }),
  ...allOf('invalid_request_error', 'invalid', {
    parameter_missing: { cause: 'A required field is absent; `param` names it.', remedy: 'Send the field.' },
    parameter_invalid: {
      cause:
        'The value of `param` has the wrong type or form. The usual fault is an amount sent as text, with a decimal point, or off the operator’s step.',
      remedy: 'Look up the field in the [API reference](/docs/reference), and send it in that form.',
    },
    parameter_unknown: {
      cause: 'The request has a field that this route does not know. Unknown fields are refused, never ignored.',
      remedy: 'Correct the spelling of the field, or remove the field.',
    },
    phone_invalid: {
      cause:
        'The phone is not 8 to 15 digits with the country code first, or it is not a mobile number of that country. The message says which.',
      remedy: 'Send `256772000100`: no plus sign, no spaces, no leading zero.',
    },
    phone_unsupported: {
      cause:
        'The number is valid, but its first digits belong to no operator available here, or the named operator does not serve its country.',
      remedy:
        'If the number was moved to an available operator, name that operator as `operator`. Otherwise offer another way to pay.',
    },
    amount_out_of_bounds: {
      cause: 'The amount is below or above what the operator accepts in one payment in this currency.',
      remedy: 'Send an amount within the bounds that the message names.',
    },
    body_malformed: {
      cause: 'The body is not valid JSON, or not a valid form, although its `Content-Type` says so.',
      remedy: 'Let a library write the body, and send the matching `Content-Type`.',
    },
    cursor_invalid: {
      cause: 'The cursor was changed, or belongs to a list with other filters.',
      remedy: 'Start the list again without a cursor, and pass `next_cursor` on unchanged.',
    },
  }),
  ...allOf('invalid_request_error', 'not_found', {
    collection_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
    reversal_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
    payout_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
    member_not_found: {
      cause: 'No member of your team has this id. The person may have left.',
      remedy: 'Load the list of members again.',
    },
    invitation_not_found: {
      cause: 'The invitation was accepted or withdrawn, or it has expired.',
      remedy: 'Ask the person who invited you for a new invitation.',
    },
    api_key_not_found: { cause: NOT_YOURS, remedy: 'Load the list of keys again.' },
    policy_change_not_found: {
      cause: 'The proposed change was decided or withdrawn, or it has expired.',
      remedy: 'Load the policy again. It shows the pending proposals.',
    },
    endpoint_not_found: { cause: NOT_YOURS, remedy: 'Load the list of endpoints again.' },
    event_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
    delivery_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
    replay_not_found: { cause: NOT_YOURS, remedy: 'Look at the deliveries themselves: each shows its attempts.' },
    request_not_found: {
      cause: 'The request log has no request with this id. The log keeps requests for 30 days.',
      remedy: 'Check the request id.',
    },
    checkout_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
    member_change_not_found: {
      cause: 'The proposed change was decided or withdrawn, or it has expired.',
      remedy: 'Load the list of members again.',
    },
    passkey_not_found: {
      cause: 'You have no passkey with this id. The passkey may have been removed.',
      remedy: 'Load your passkeys again.',
    },
    session_not_found: {
      cause: 'That session has ended.',
      remedy: 'Nothing to do: the session can no longer be used.',
    },
    route_not_found: {
      cause: 'No route has this path. A different spelling, such as a slash at the end, is a different path.',
      remedy: 'Copy the path from the [API reference](/docs/reference).',
    },
  }),
  ...allOf('invalid_request_error', 'method_not_allowed', {
    method_not_allowed: {
      cause: 'The path exists, but does not support this method.',
      remedy: 'Use a method that the `Allow` header names.',
    },
  }),
  ...allOf('invalid_request_error', 'too_large', {
    body_too_large: { cause: 'The body is larger than 64 KiB.', remedy: 'Send less in one request.' },
  }),
  ...allOf('invalid_request_error', 'unsupported_media', {
    media_type_unsupported: {
      cause: 'The body’s `Content-Type` is neither JSON nor a form, or the body is compressed.',
      remedy: 'Send `application/json` or `application/x-www-form-urlencoded`, uncompressed.',
    },
  }),
  ...allOf('idempotency_error', 'invalid', {
    idempotency_key_missing: {
      cause: 'A request that creates a payment came without `Idempotency-Key`.',
      remedy:
        'Create one key per payment, store the key with your order, and send it with every attempt ([idempotency](idempotency.md)).',
    },
    idempotency_key_invalid: {
      cause: 'The key is empty, longer than 255 characters, or has characters other than visible ASCII.',
      remedy: 'Use the id of your order, or a UUID.',
    },
  }),
  ...allOf('idempotency_error', 'conflict', {
    idempotency_key_reused: {
      cause: 'The key was used before for a request with other parameters. This request created nothing.',
      remedy: 'For another payment, use another key. For a retry, send exactly the first request again.',
    },
    idempotency_key_in_flight: {
      cause: 'A request with the same key is being processed at this moment.',
      remedy: 'Send the request again, unchanged, after the seconds in `Retry-After`.',
    },
  }),
  ...allOf('payment_error', 'payment_required', {
    balance_insufficient: {
      cause: 'The available balance does not cover the payout. Nothing is held.',
      remedy: 'Wait for collections, or pay out less. Use a new key: the response to this key is stored.',
    },
  }),
  ...allOf('payment_error', 'conflict', {
    state_conflict: {
      cause: 'The state of the payment does not allow this, usually because somebody else acted first.',
      remedy: 'Fetch the payment, and act on its current state.',
    },
    approval_self: {
      cause:
        'The maker of a payout cannot release it. The maker of a payout created with a key is the creator of the key.',
      remedy: 'Let another person with the role `approver` release it.',
    },
  }),
  ...allOf('rate_limit_error', 'rate_limited', {
    rate_limited: {
      cause: 'Too many requests came from this address within a second.',
      remedy: 'Wait for the seconds in `Retry-After`, then send it again with the same key. Spread large batches.',
    },
  }),
  ...allOf('api_error', 'internal', {
    internal_error: {
      cause: 'The service has a fault. The payment may or may not have been recorded.',
      remedy:
        'Send the same request with the same `Idempotency-Key` again: it never makes a second payment. If the error persists, send us the request id.',
    },
  }),
  ...allOf('api_error', 'unavailable', {
    service_unavailable: {
      cause: 'The service cannot record the request, or cannot carry it out soon enough.',
      remedy: 'Send the same request with the same `Idempotency-Key` again after `Retry-After`.',
    },
  }),
};
