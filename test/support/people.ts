// People for tests: they share one password, have a second factor where their roles require it, and log in like a browser.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { MerchantId, UserId } from '../../src/domain/ids.ts';
import { requiresSecondFactor, type Role } from '../../src/domain/accounts/member.ts';
import { hashPassword } from '../../src/security/password.ts';
import { generateTotpSecret, totpCode, totpStepAt } from '../../src/security/totp.ts';
import { enrolMember } from '../../src/operations/accounts/enrol-member.ts';
import { rewrite } from './attestation.ts';
import { openBrowser, type Browser } from './browser.ts';
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

/** The current one-time code, or a code this many steps later: the server accepts one step either way. */
export function codeOf(secret: string | null, stepsLater = 0): string {
  assert.ok(secret !== null);
  return totpCode(secret, totpStepAt(new Date()) + stepsLater);
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

export type LoggedInPerson = { readonly person: TestPerson; readonly browser: Browser };

/** Adds a member as `addPerson` does, and logs them in. */
export async function enter(...who: Parameters<typeof addPerson>): Promise<LoggedInPerson> {
  const person = await addPerson(...who);
  return { person, browser: await logIn(who[0], person) };
}

/** Adds a member in these roles, logs them in and returns their browser. */
export async function logInAs(
  testEnv: ServerUnderTest,
  merchantId: MerchantId,
  ...roles: readonly Role[]
): Promise<Browser> {
  return (await enter(testEnv, merchantId, roles)).browser;
}

/** As if the second factor in the person's sessions had been verified so much earlier. */
export async function ageSecondFactor(
  { db }: Pick<ServerUnderTest, 'db'>,
  { id }: TestPerson,
  by: '5 minutes' | '6 minutes' | '1 hour',
): Promise<void> {
  const age = 'UPDATE sessions SET second_factor_at = second_factor_at - $2::interval WHERE user_id = $1';
  await rewrite(db, age, [id, by]);
}

/** Enrols a second factor in the session, and returns its secret. Its present code is used up. */
export async function enrolSecondFactor(browser: Browser, password = PASSWORD): Promise<string> {
  const path = '/v1/console/session/second-factor';
  const secret = String((await browser.call('POST', path, { json: { password } })).json['secret']);
  const confirmed = await browser.call('POST', `${path}/confirm`, { json: { totp: codeOf(secret) } });
  assert.equal(confirmed.status, 200, confirmed.text);
  return secret;
}
