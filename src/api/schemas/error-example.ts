// An example of every error for the document: the text that a caller reads.
import { DomainError, errorBody, errorCategory, type ErrorCode } from '../../domain/errors.ts';

const EXAMPLE_ID = 'req_01j9z3k5m7n9p1q3r5s7t9v1w3';

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  api_key_missing: 'Send your API key in the header Authorization: Bearer <key>.',
  api_key_invalid: 'The Authorization header must read: Bearer <key>.',
  insufficient_scope: 'This key lacks the scope collections:write.',
  permission_denied: 'You may not do this.',
  parameter_missing: 'amount is required.',
  parameter_invalid: 'amount must be a whole number in the smallest unit of the currency.',
  parameter_unknown: '"amout" is not a parameter of this request. Remove it, or check its spelling.',
  phone_invalid: 'phone must be a mobile number: digits only, country code first, no plus sign and no leading zero.',
  phone_unsupported: 'There is no operator for this phone.',
  amount_out_of_bounds: 'amount must be 1 or more.',
  body_malformed: 'The body could not be read. Check its syntax.',
  cursor_invalid: 'This cursor is invalid. Start again without a cursor.',
  method_not_allowed: 'This route supports GET.',
  body_too_large: 'The body is larger than 64 KiB. Send a smaller one.',
  media_type_unsupported:
    'Send the body as application/json or application/x-www-form-urlencoded, in UTF-8 and uncompressed.',
  idempotency_key_missing:
    'Send an Idempotency-Key header, a new one for each payment and the same one for each retry of it.',
  idempotency_key_invalid: 'An Idempotency-Key is 1 to 255 visible ASCII characters.',
  idempotency_key_reused:
    'This Idempotency-Key was already used with different parameters. Use a new key for a new request.',
  idempotency_key_in_flight:
    'A request with this Idempotency-Key is still in progress. Wait a second, then send it again with the same key.',
  balance_insufficient: 'The available balance is too low for this amount.',
  approval_self: 'The maker of a payout cannot release it. Another person must.',
  rate_limited: 'Too many requests from this address. Wait, then try again.',
  internal_error: 'Something went wrong on our side. Try again with the same key.',
  service_unavailable: 'We cannot record anything right now. Try again with the same key.',
};

const PARAMETERS: Partial<Record<ErrorCode, string>> = {
  parameter_missing: 'amount',
  parameter_invalid: 'amount',
  parameter_unknown: 'amout',
  phone_invalid: 'phone',
  phone_unsupported: 'phone',
  amount_out_of_bounds: 'amount',
  cursor_invalid: 'cursor',
};

export function errorExample(code: ErrorCode): object {
  const message = MESSAGES[code] ?? messageOf(code);
  const param = PARAMETERS[code];
  const issues = param === undefined ? [] : [{ param, code, message }];
  return errorBody(new DomainError(code, message, { issues }), EXAMPLE_ID);
}

function messageOf(code: ErrorCode): string {
  const noun = code.replace(/_not_found$/, '').replaceAll('_', ' ');
  if (errorCategory(code) === 'not_found') return `There is no ${noun} with this id.`;
  if (errorCategory(code) === 'unauthenticated') return 'This API key does not work. Use another one.';
  return 'The current state does not allow this. Fetch the object and check its state.';
}
