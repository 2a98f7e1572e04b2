// Recovery codes: ten, shown once; each replaces a lost second factor once, even while others guess.
import assert from 'node:assert/strict';
import { createAuthenticator } from '../../support/authenticator.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import {
  addPerson,
  codeOf,
  logIn,
  logInAs,
  PASSWORD,
  type TestPerson,
  enter,
  ageSecondFactor,
} from '../../support/people.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import { openBrowser, type Browser } from '../../support/browser.ts';
import { API_ONLY, assertError, assertNotAuthenticated, assertDenied } from '../responses.ts';

const SESSION = '/v1/console/session';
const CODES = `${SESSION}/recovery-codes`;
const FACTOR = `${SESSION}/second-factor`;

describe('recovery codes', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  const ask = (browser: Browser, password = PASSWORD) => browser.call('POST', CODES, { json: { password } });
  const create = async (browser: Browser) => (await ask(browser)).json['codes'] as string[];
  const logInWith = async (person: TestPerson, fields: object, browser = openBrowser(testEnv.baseUrl)) =>
    browser.call('POST', SESSION, { json: { email: person.email, password: PASSWORD, ...fields } });
  const left = ({ json }: { json: Record<string, unknown> }) =>
    (json['factors'] as { recovery_codes: number }).recovery_codes;

  it('are ten, different, and stored as digests alone', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    const response = await ask(browser);
    assert.equal(response.status, 201, response.text);
    const codes = response.json['codes'] as string[];
    assert.equal(new Set(codes).size, 10);
    await assertAudited(testEnv, response, { action: 'recovery_codes.created', outcome: 'done', after: { left: 10 } });
    const { rows } = await testEnv.db.pool.query<{ row: string }>(
      `SELECT r::text AS row FROM recovery_codes r UNION ALL SELECT a::text FROM audit_entries a`,
    );
    for (const code of codes)
      assert.ok(rows.every(({ row }) => !row.includes(code) && !row.includes(code.replace(/-/g, ''))));
    assert.equal(left(await browser.call('GET', SESSION)), 10);
  });

  it('replace the second factor at a log-in, once each, and the remaining number is shown', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    const [code = '', other = ''] = await create(await logIn(testEnv, person));
    const opened = await logInWith(person, { recovery_code: ` ${code.toUpperCase().replaceAll('-', ' ')} ` });
    assert.equal(opened.status, 201, opened.text);
    assert.equal(left(opened), 9);
    assert.ok(opened.json['second_factor_at'] !== null);
    const after = { verified_by: 'recovery_code', recovery_codes_left: 9 };
    await assertAudited(testEnv, opened, { action: 'session.opened', outcome: 'done', after });
    const again = await logInWith(person, { recovery_code: code });
    assertNotAuthenticated(again);
    await assertAudited(testEnv, again, { outcome: 'refused', after: { reason: 'wrong or used recovery code' } });
    assertNotAuthenticated(await logInWith(person, { recovery_code: other, password: 'wrong' }));
    const both = await Promise.all([1, 2].map(() => logInWith(person, { recovery_code: other })));
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 401]);
  });

  it('are gone with the last second factor of their person', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    await create(browser);
    const json = { password: PASSWORD, totp: codeOf(person.totpSecret, 1) };
    const removed = await browser.call('POST', `${FACTOR}/remove`, { json });
    assert.equal(removed.status, 200, removed.text);
    assert.equal(left(removed), 0);
  });

  it('are replaced by new ones, for which a fresh second factor is needed', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['approver']);
    const [old = ''] = await create(browser);
    const [fresh = ''] = await create(browser);
    assertNotAuthenticated(await logInWith(person, { recovery_code: old }));
    assert.equal((await logInWith(person, { recovery_code: fresh })).status, 201);
    await ageSecondFactor(testEnv, person, '5 minutes');
    assertError(await ask(browser), 'permission_denied');
    const viewer = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    assertError(await ask(viewer), 'state_conflict');
  });

  it('are renewed only with the password, even in a fresh session, and attempts are limited', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['approver']);
    const [code = ''] = await create(browser);
    for (let n = 0; n < 10; n++) {
      const refused = await ask(browser, 'wrong');
      await assertDenied(testEnv, refused, { after: { reason: 'wrong password' } });
    }
    assertError(await ask(browser), 'rate_limited');
    assert.equal((await logInWith(person, { recovery_code: code })).status, 201, 'the earlier ones are valid');
  });

  it('let the person exchange the factor that they lost', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    const [code = ''] = await create(await logIn(testEnv, person));
    const browser = openBrowser(testEnv.baseUrl);
    assert.equal((await logInWith(person, { recovery_code: code }, browser)).status, 201);
    const secret = String((await browser.call('POST', FACTOR, { json: { password: PASSWORD } })).json['secret']);
    assert.equal(
      (await logInWith(person, { totp: codeOf(person.totpSecret, 1) })).status,
      201,
      'not before it is confirmed',
    );
    assert.equal((await browser.call('POST', `${FACTOR}/confirm`, { json: { totp: codeOf(secret) } })).status, 200);
    assertNotAuthenticated(await logInWith(person, { totp: codeOf(person.totpSecret, 1) }));
    assert.equal((await logInWith(person, { totp: codeOf(secret, 1) })).status, 201);
  });

  it('let the person in while strangers use up the attempts of the account', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    const [code = ''] = await create(await logIn(testEnv, person));
    for (let n = 0; n < 10; n++) await logInWith(person, { password: 'wrong' });
    assertError(await logInWith(person, { totp: codeOf(person.totpSecret, 1) }), 'rate_limited');
    assertNotAuthenticated(await logInWith(person, { recovery_code: '00000-00000-00000-00000' }));
    assert.equal((await logInWith(person, { recovery_code: code })).status, 201);
  });

  it('do not help to guess a password or a one-time code past the limits of the account', async () => {
    const unused = '00000-00000-00000-00000';
    const viewer = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const approver = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    for (let n = 0; n < 10; n++) await logInWith(viewer, { password: 'wrong' });
    assertNotAuthenticated(await logInWith(viewer, { recovery_code: unused }));
    for (let n = 0; n < 10; n++) await logInWith(approver, { password: 'wrong' });
    const totp = codeOf(approver.totpSecret);
    assertNotAuthenticated(await logInWith(approver, { recovery_code: unused, totp }));
    for (const person of [approver, viewer]) {
      const fields = { recovery_code: 'none', ...(person === approver && { totp }) };
      assertError(await logInWith(person, fields), 'rate_limited');
    }
  });

  it('do not reveal, even in the audit log, whether the password beside a wrong code was right', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    const [code = ''] = await create(await logIn(testEnv, person));
    const { json } = await openBrowser(testEnv.baseUrl).call('POST', `${SESSION}/options`, {
      json: { email: person.email },
    });
    const passkey = createAuthenticator(testEnv.baseUrl).get(
      (json as unknown as { public_key: { challenge: string } }).public_key,
    );
    // The challenge is used up by the first one that is tried.
    assertNotAuthenticated(await logInWith(person, { passkey }));
    for (const fields of [{ recovery_code: '0a1b2-c3d4e-5f607-18290' }, { passkey }]) {
      const attempts = [await logInWith(person, fields), await logInWith(person, { ...fields, password: 'wrong' })];
      const recorded = await Promise.all(attempts.map((attempt) => auditRows(testEnv, attempt)));
      const [right, wrong] = recorded.map((rows) =>
        rows.map(({ action, outcome, after }) => ({ action, outcome, after })),
      );
      assert.deepEqual(wrong, right);
      assert.equal(right!.length, 1);
    }
    assertNotAuthenticated(await logInWith(person, { recovery_code: code, password: 'wrong' }));
    assert.equal((await logInWith(person, { recovery_code: code })).status, 201, 'a wrong password uses no code up');
  });
});

describe('failed log-ins', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  it('are reported to the person at their next log-in: number, time and address', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const open = (password: string) =>
      openBrowser(testEnv.baseUrl).call('POST', SESSION, { json: { email: person.email, password } });
    assert.equal((await open(PASSWORD)).json['failed_log_ins'], null);
    for (let n = 0; n < 3; n++) assertNotAuthenticated(await open('wrong'));
    const opened = await open(PASSWORD);
    const failed = opened.json['failed_log_ins'] as { count: number; last_at: string; last_address: string };
    assert.deepEqual([failed.count, failed.last_address], [3, '127.0.0.1']);
    assert.ok(Math.abs(Date.parse(failed.last_at) - Date.now()) < 60_000);
    const [entry] = await auditRows(testEnv, opened);
    assert.deepEqual(entry!.after, { verified_by: 'password', failed_before: 3 });
    assert.equal((await open(PASSWORD)).json['failed_log_ins'], null, 'told once');
  });
});
