// People for tests: they share one password, have a second factor where their roles require it, and log in like a browser.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { MerchantId, UserId } from '../../src/domain/ids.ts';
import { requiresSecondFactor, type Role } from '../../src/domain/accounts/member.ts';
import { hashPassword } from '../../src/security/password.ts';
import { generateTotpSecret, totpCode, totpStepAt } from '../../src/security/totp.ts';
import { enrolMember } from '../../src/operations/accounts/enrol-member.ts';
import { call, type ApiResponse, type CallOptions } from './api.ts';
import type { TestEnvironment } from './test-environment.ts';

export const PASSWORD = 'correct horse battery staple';

let hash: Promise<string> | null = null;

/** The hash of `PASSWORD`, computed once because hashing is slow on purpose. */
export function passwordHash(): Promise<string> {
  return (hash ??= hashPassword(PASSWORD));
}

export type TestPerson = {
  readonly id: UserId;
  readonly merchantId: MerchantId;
  readonly email: string;
  /** Base32; null: no second factor. */
  readonly totpSecret: string | null;
};

type ServerUnderTest = Pick<TestEnvironment, 'db' | 'config' | 'baseUrl'>;

/** Adds a member in these roles, with a second factor if their roles require one, or as requested. */
export async function addPerson(
  { db, config }: ServerUnderTest,
  merchantId: MerchantId,
  roles: readonly Role[],
  options: { readonly hasSecondFactor?: boolean; readonly email?: string; readonly name?: string } = {},
): Promise<TestPerson> {
  const email = options.email ?? `${roles.join('.')}.${randomBytes(5).toString('hex')}@shop.example`;
  const { hasSecondFactor = requiresSecondFactor(roles) } = options;
  const totpSecret = hasSecondFactor ? generateTotpSecret() : null;
  const id = await enrolMember(db, {
    merchantId,
    email,
    name: options.name ?? `The ${roles.join(' and ')}`,
    passwordHash: await passwordHash(),
    roles,
    totpSecret,
    keyRing: config.settings.MALIPO_SECRET_KEYS,
    at: new Date(),
  });
  return { id, merchantId, email, totpSecret };
}

/** The current one-time code, or the one so many steps later: the server accepts one step either way. */
export function codeOf(secret: string | null, stepsLater = 0): string {
  assert.ok(secret !== null);
  return totpCode(secret, totpStepAt(new Date()) + stepsLater);
}

export type Browser = {
  /** The cookie that the server set last; empty when there is none. */
  cookie: string;
  readonly baseUrl: string;
  /** Makes a call as our own pages do, with the cookie. A cookie in the response replaces it. */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
};

/** A browser on our own pages, without a session. */
export function openBrowser(baseUrl: string): Browser {
  const browser: Browser = {
    cookie: '',
    baseUrl,
    async call(method, path, options = {}) {
      const headers = {
        ...(browser.cookie !== '' && { cookie: browser.cookie }),
        'malipo-console': '1',
        origin: baseUrl,
        ...options.headers,
      };
      const idempotencyKey = options.idempotencyKey ?? (path.startsWith('/v1/console') ? null : undefined);
      const response = await call(baseUrl, method, path, {
        ...options,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        headers,
      });
      const cookie = cookieOf(response);
      if (cookie !== null) browser.cookie = cookie.value === '' ? '' : `${cookie.name}=${cookie.value}`;
      return response;
    },
  };
  return browser;
}

/** The cookie that the response sets; null when it sets none. */
export function cookieOf(response: ApiResponse): { name: string; value: string; attributes: string[] } | null {
  const [cookie] = response.headers.getSetCookie();
  if (cookie === undefined) return null;
  const [pair = '', ...attributes] = cookie.split('; ');
  const [name = '', value = ''] = pair.split('=');
  return { name, value, attributes };
}

/** Makes the person's one-time codes valid again, as if time had passed: a test may need more of them than time gives. */
export async function forgetUsedCodes({ db }: Pick<ServerUnderTest, 'db'>, { id }: TestPerson): Promise<void> {
  await db.pool.query('UPDATE users SET totp_last_step = NULL WHERE id = $1', [id]);
}

/** Logs the person in and returns their browser. */
export async function logIn(testEnv: ServerUnderTest, person: TestPerson, stepsLater = 0): Promise<Browser> {
  await forgetUsedCodes(testEnv, person);
  const browser = openBrowser(testEnv.baseUrl);
  const totp = person.totpSecret === null ? {} : { totp: codeOf(person.totpSecret, stepsLater) };
  const response = await browser.call('POST', '/v1/console/session', {
    json: { email: person.email, password: PASSWORD, merchant_id: person.merchantId, ...totp },
  });
  assert.equal(response.status, 201, response.text);
  return browser;
}

/** Adds a member in these roles, logs them in and returns their browser. */
export async function logInAs(
  testEnv: ServerUnderTest,
  merchantId: MerchantId,
  ...roles: readonly Role[]
): Promise<Browser> {
  return logIn(testEnv, await addPerson(testEnv, merchantId, roles));
}

/** Enrols a second factor in the session, and returns its secret. Its present code is used up. */
export async function enrolSecondFactor(browser: Browser, password = PASSWORD): Promise<string> {
  const path = '/v1/console/session/second-factor';
  const secret = String((await browser.call('POST', path, { json: { password } })).json['secret']);
  const confirmed = await browser.call('POST', `${path}/confirm`, { json: { totp: codeOf(secret) } });
  assert.equal(confirmed.status, 200, confirmed.text);
  return secret;
}

export type AuditRow = {
  readonly user_id: string | null;
  readonly action: string;
  readonly outcome: string;
  readonly subject_id: string | null;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
  readonly address: string | null;
  readonly request_id: string | null;
};

/** The entries that one request made in the audit log, in order. */
export async function auditRows({ db }: Pick<TestEnvironment, 'db'>, response: ApiResponse): Promise<AuditRow[]> {
  const { rows } = await db.pool.query<AuditRow>(
    `SELECT user_id, action, outcome, subject_id, before, after, host(address) AS address, request_id
     FROM audit_entries WHERE request_id = $1 ORDER BY id`,
    [response.headers.get('malipo-request-id')],
  );
  return rows;
}

/** Fails unless the request left exactly this one entry in the audit log. */
export async function assertAudited(
  testEnv: Pick<TestEnvironment, 'db'>,
  response: ApiResponse,
  expected: Partial<AuditRow>,
): Promise<AuditRow> {
  const rows = await auditRows(testEnv, response);
  assert.equal(rows.length, 1, `entries of ${response.status} ${response.text}: ${JSON.stringify(rows)}`);
  const [row] = rows;
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(row![name as keyof AuditRow], value, name);
  assert.equal(row!.address, '127.0.0.1');
  return row!;
}
