// Checks of what every response and every error response must contain, and further servers on one test environment.
import assert from 'node:assert/strict';
import { HTTP_STATUS } from '../../src/api/errors.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { errorCategory, errorType, type ErrorCode } from '../../src/domain/errors.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertAudited, type AuditRow } from '../support/audit-rows.ts';
import type { TestEnvironment } from '../support/test-environment.ts';

export type ErrorIssue = { readonly param: string; readonly code: string; readonly message: string };
type ErrorBody = {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly request_id: string;
  readonly errors: readonly ErrorIssue[];
};

/** Fails unless the response refuses a caller without a valid session, or who does not get in. */
export function assertNotAuthenticated(response: ApiResponse): ErrorBody {
  return assertError(response, 'permission_denied', 401);
}

/** Fails unless the response denies a permission, and the audit log has that, as expected, as its only entry. */
export async function assertDenied(
  testEnv: Pick<TestEnvironment, 'db'>,
  response: ApiResponse,
  expected: Partial<AuditRow> = {},
): Promise<AuditRow> {
  assertError(response, 'permission_denied');
  return assertAudited(testEnv, response, { outcome: 'refused', ...expected });
}

/** Fails unless the response is exactly this error: status, headers and body. Returns the body's `error`. */
export function assertError(
  response: ApiResponse,
  code: ErrorCode,
  status = HTTP_STATUS[errorCategory(code)],
): ErrorBody {
  const error = response.json.error as unknown as ErrorBody;
  const where = `${response.status} ${response.text}`;
  assert.equal(error.code, code, where);
  assert.equal(response.status, status, where);
  assert.equal(error.type, errorType(code), where);
  assert.deepEqual(Object.keys(error), ['type', 'code', 'message', 'param', 'request_id', 'errors']);
  assert.match(error.message, /^\S.*\.$/, 'the message is a sentence');
  assert.equal(error.param, error.errors[0]?.param ?? null, where);
  if (error.errors[0]) assert.deepEqual([error.errors[0].code, error.errors[0].message], [code, error.message], where);
  assertHeaders(response);
  assert.equal(error.request_id, response.headers.get('malipo-request-id'));
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(response.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null);
  const mustWait = code === 'idempotency_key_in_flight' || code === 'rate_limited' || code === 'service_unavailable';
  assert.match(response.headers.get('retry-after') ?? 'none', mustWait ? /^[1-9][0-9]{0,6}$/ : /^none$/, where);
  assert.equal(response.headers.has('allow'), code === 'method_not_allowed');
  return error;
}

/** The headers that every response has, successful or not. */
export function assertHeaders(response: { readonly headers: Headers }): void {
  assert.match(response.headers.get('malipo-request-id') ?? '', /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(response.headers.get('cache-control'), 'no-store');
}

/** `param code` of every problem that the error names. */
export function issuesOf(response: ApiResponse): string[] {
  const { errors } = response.json.error as unknown as ErrorBody;
  return errors.map(({ param, code }) => `${param} ${code}`);
}

/** A further server on the environment's database, with these settings changed. Stops with the environment. */
export async function startAnotherServer(
  testEnv: TestEnvironment,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly baseUrl: string }> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const own = { MALIPO_ROLES: 'api', MALIPO_HTTP_PORT: String(port), MALIPO_PUBLIC_URL: baseUrl };
  await testEnv.startServer({ ...own, ...settings });
  return { baseUrl };
}

/** Options of an environment that runs the API alone: nothing that it records is ever started. */
export const API_ONLY = { environment: { MALIPO_ROLES: 'api' } } as const;
