// What each error code means for whoever calls the API: why it happens, and what to do then. The pages of errors are made from it.
import type { ErrorCode } from './errors.ts';

type Remedy = { readonly cause: string; readonly remedy: string };

const NOT_YOURS = 'There is none with this id, or it belongs to another merchant: the two look the same.';
const CHECK_ID = 'Check the id, and that key and id are of the same merchant and environment.';

/** Every code has its entry: the compiler sees to that. Both are sentences in Markdown. */
export const ERROR_REMEDIES: Readonly<Record<ErrorCode, Remedy>> = {
  api_key_missing: {
    cause: 'The request has no `Authorization` header.',
    remedy: 'Send `Authorization: Bearer sk_test_…` with every request.',
  },
  api_key_invalid: {
    cause:
      'The header is not `Bearer` and a key, or nobody has this key. A key that was cut short while copying is the usual reason.',
    remedy: 'Copy the whole key again, or create one in the console under *Developers*.',
  },
  api_key_wrong_environment: {
    cause: 'A key of `test` was sent to `live`, or the other way round.',
    remedy: 'Use the key of the environment that you call: `sk_test_` or `sk_live_`.',
  },
  api_key_expired: {
    cause: 'The key was created, or rolled, with an end that has passed.',
    remedy: 'Roll the key in the console and put the new one into your configuration.',
  },
  api_key_revoked: {
    cause: 'Somebody of your team revoked the key. The audit log says who and when.',
    remedy: 'Create another key. If nobody of you did it, tell us at once.',
  },
  insufficient_scope: {
    cause: 'The key is valid and lacks the scope that this route needs; the message names it.',
    remedy: 'Create a key with that scope, for the one service that needs it.',
  },
  permission_denied: {
    cause: 'The person’s session, or their roles, do not allow this. No finer reason is given to anybody outside.',
    remedy:
      'Log in again, or ask an owner or admin for the role. `GET /v1/console/session` says what the session may do.',
  },
  parameter_missing: { cause: 'A required field is absent; `param` names it.', remedy: 'Send it.' },
  parameter_invalid: {
    cause:
      'The value of `param` has the wrong type or form. An amount as a text or with a decimal point is the usual one.',
    remedy: 'Read the field in the [API reference](/docs/reference) and send it in that form.',
  },
  parameter_unknown: {
    cause: 'The request has a field that this route does not know, so it was not ignored silently.',
    remedy: 'Correct its spelling or remove it.',
  },
  phone_invalid: {
    cause:
      'The phone is not 8 to 15 digits with the country code first, or no mobile number of that country: the message says which.',
    remedy: 'Send `256772000100`: no plus sign, no spaces, no leading zero.',
  },
  phone_unsupported: {
    cause:
      'The number is sound, but by its first digits no operator that you can reach here has it, or the named operator is not in its country.',
    remedy:
      'Where the number was moved to an operator that you can reach, name it as `operator`. Otherwise offer another way to pay.',
  },
  amount_out_of_bounds: {
    cause: 'The amount is below or above what the operator takes in one payment in this currency.',
    remedy: 'Send an amount within the bounds that the message names.',
  },
  body_malformed: {
    cause: 'The body is not the JSON, or not the form, that its `Content-Type` says.',
    remedy: 'Let a library write the body, and send the `Content-Type` that belongs to it.',
  },
  cursor_invalid: {
    cause: 'The cursor was changed, or belongs to a list with other filters.',
    remedy: 'Start the list again without a cursor, and pass `next_cursor` on unchanged.',
  },
  collection_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
  reversal_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
  payout_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
  member_not_found: {
    cause: 'Nobody with this id is in your team (any more).',
    remedy: 'Load the list of members again.',
  },
  invitation_not_found: {
    cause: 'The invitation was accepted, withdrawn or has ended.',
    remedy: 'Ask whoever invited you for a new one.',
  },
  api_key_not_found: { cause: NOT_YOURS, remedy: 'Load the list of keys again.' },
  policy_change_not_found: {
    cause: 'The proposed change was decided, withdrawn or has ended.',
    remedy: 'Load the policy again: it shows what is proposed now.',
  },
  endpoint_not_found: { cause: NOT_YOURS, remedy: 'Load the list of endpoints again.' },
  event_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
  delivery_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
  checkout_not_found: { cause: NOT_YOURS, remedy: CHECK_ID },
  replay_not_found: { cause: NOT_YOURS, remedy: 'Look at the deliveries themselves: each shows its attempts.' },
  request_not_found: {
    cause: 'The request log has no such request of yours, or no longer: it is kept for 30 days.',
    remedy: 'Check the request id.',
  },
  member_change_not_found: {
    cause: 'The proposed change was decided, withdrawn or has ended.',
    remedy: 'Load the list of members again.',
  },
  passkey_not_found: { cause: 'You have no passkey with this id (any more).', remedy: 'Load your passkeys again.' },
  session_not_found: { cause: 'That session has ended.', remedy: 'Nothing: it cannot be used any more.' },
  route_not_found: {
    cause: 'Nothing answers at this path. Another spelling of it, such as a slash at its end, is another path.',
    remedy: 'Copy the path from the [API reference](/docs/reference).',
  },
  method_not_allowed: {
    cause: 'The path is right, and the method is not.',
    remedy: 'Use a method that the `Allow` header names.',
  },
  body_too_large: { cause: 'The body is larger than 64 KiB.', remedy: 'Send less in one request.' },
  media_type_unsupported: {
    cause: 'The body’s `Content-Type` is neither JSON nor a form, or the body is compressed.',
    remedy: 'Send `application/json` or `application/x-www-form-urlencoded`, uncompressed.',
  },
  idempotency_key_missing: {
    cause: 'A request that creates a payment came without `Idempotency-Key`.',
    remedy:
      'Make one key per payment, store it with your order, and send it with every try ([idempotency](idempotency.md)).',
  },
  idempotency_key_invalid: {
    cause: 'The key is empty, longer than 255 characters, or has others than visible ASCII.',
    remedy: 'Use the id of your order, or a UUID.',
  },
  idempotency_key_reused: {
    cause: 'The key was used before for a request with other parameters. Nothing was created by this one.',
    remedy: 'For another payment make another key. For a retry send exactly what you sent the first time.',
  },
  idempotency_key_in_flight: {
    cause: 'A request with the same key is being processed at this moment.',
    remedy: 'Send it again, unchanged, after the seconds in `Retry-After`.',
  },
  balance_insufficient: {
    cause: 'The available balance does not cover the payout. Nothing is held.',
    remedy: 'Wait for collections, or pay out less under a new key: the answer to this key stays.',
  },
  state_conflict: {
    cause: 'The payment is not in a state in which this can be done, usually because somebody was faster.',
    remedy: 'Fetch it and act on the state that it has now.',
  },
  approval_self: {
    cause: 'Whoever made a payout cannot release it, and a key acts for the person who created it.',
    remedy: 'Let another person with the role `approver` release it.',
  },
  rate_limited: {
    cause: 'Too many requests of this address within a second.',
    remedy: 'Wait for the seconds in `Retry-After`, then send it again with the same key. Spread large batches.',
  },
  internal_error: {
    cause: 'A fault of ours. Whether the payment was recorded is open.',
    remedy:
      'Send the same request with the same `Idempotency-Key` again: it never makes a second payment. Quote the request id to us if it stays.',
  },
  service_unavailable: {
    cause: 'We cannot record, or not carry out soon enough, what you ask for.',
    remedy: 'Send the same request with the same `Idempotency-Key` again after `Retry-After`.',
  },
};
