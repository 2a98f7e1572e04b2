// The closed list of error codes, compared with the contract's table.
import assert from 'node:assert/strict';
import { HTTP_STATUS } from '../../src/api/errors.ts';
import { DomainError, ERROR_CODES, errorCategory, errorType, invalidParameters } from '../../src/domain/errors.ts';

// Status, type and codes, as the contract's table has them.
const CONTRACT: readonly [number, string, string][] = [
  [
    401,
    'authentication_error',
    'api_key_missing api_key_invalid api_key_wrong_environment api_key_expired api_key_revoked',
  ],
  [403, 'permission_error', 'insufficient_scope permission_denied'],
  [
    400,
    'invalid_request_error',
    'parameter_missing parameter_invalid parameter_unknown phone_invalid phone_unsupported',
  ],
  [400, 'invalid_request_error', 'amount_out_of_bounds body_malformed cursor_invalid'],
  [404, 'invalid_request_error', 'collection_not_found payout_not_found route_not_found'],
  [404, 'invalid_request_error', 'member_not_found invitation_not_found api_key_not_found policy_change_not_found'],
  [405, 'invalid_request_error', 'method_not_allowed'],
  [413, 'invalid_request_error', 'body_too_large'],
  [415, 'invalid_request_error', 'media_type_unsupported'],
  [400, 'idempotency_error', 'idempotency_key_missing idempotency_key_invalid'],
  [409, 'idempotency_error', 'idempotency_key_reused idempotency_key_in_flight'],
  [402, 'payment_error', 'balance_insufficient'],
  [409, 'payment_error', 'state_conflict approval_self'],
  [429, 'rate_limit_error', 'rate_limited'],
  [500, 'api_error', 'internal_error'],
  [503, 'api_error', 'service_unavailable'],
  [404, 'invalid_request_error', 'reversal_not_found member_change_not_found session_not_found passkey_not_found'],
  [
    404,
    'invalid_request_error',
    'endpoint_not_found event_not_found delivery_not_found replay_not_found request_not_found checkout_not_found',
  ],
];

describe('error codes', () => {
  it('are those of the contract, each with its status and type', () => {
    const listed = ERROR_CODES.map((code) => [code, HTTP_STATUS[errorCategory(code)], errorType(code)]);
    const expected = CONTRACT.flatMap(([status, type, codes]) => codes.split(' ').map((code) => [code, status, type]));
    assert.deepEqual(listed.sort(), expected.sort());
  });

  it('report the first of several problems with a request', () => {
    const error = invalidParameters([
      { param: 'phone', code: 'phone_invalid', message: 'phone is wrong.' },
      { param: 'amount', code: 'parameter_missing', message: 'amount is required.' },
    ]);
    assert.ok(error instanceof DomainError);
    assert.deepEqual([error.code, error.message, error.issues.length], ['phone_invalid', 'phone is wrong.', 2]);
  });
});
