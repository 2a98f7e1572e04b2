// The second factor of a person: it is enrolled in two steps, removed with password and code, and stored sealed.
import assert from 'node:assert/strict';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, codeOf, logInAs, logIn, PASSWORD, enter, ageSecondFactor } from '../../support/people.ts';
import { assertAudited } from '../../support/audit-rows.ts';
import { openBrowser, type Browser } from '../../support/browser.ts';
import { API_ONLY, assertError, assertNotAuthenticated, assertDenied } from '../responses.ts';

const SESSION = '/v1/console/session';
const FACTOR = `${SESSION}/second-factor`;

describe('a second factor', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const start = (browser: Browser, password = PASSWORD) => browser.call('POST', FACTOR, { json: { password } });
  const confirm = (browser: Browser, totp: string) => browser.call('POST', `${FACTOR}/confirm`, { json: { totp } });
  const remove = (browser: Browser, fields: object) => browser.call('POST', `${FACTOR}/remove`, { json: fields });

  it('is enrolled with a secret and its first code, and required from then on', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: false });
    const started = await start(browser);
    assert.equal(started.status, 201, started.text);
    await assertAudited(testEnv, started, { action: 'second_factor.started', outcome: 'done', after: null });
    const secret = String(started.json['secret']);
    assert.match(String(started.json['otpauth_url']), new RegExp(`^otpauth://totp/.*secret=${secret}`));
    assert.equal((await browser.call('GET', SESSION)).json['has_second_factor'], false, 'not before it was confirmed');
    const { cookie } = browser;
    const code = codeOf(secret);
    const confirmed = await confirm(browser, code);
    assert.equal(confirmed.status, 200, confirmed.text);
    assert.notEqual(browser.cookie, cookie);
    assert.equal(confirmed.json['has_second_factor'], true);
    assert.ok(confirmed.json['second_factor_at'] !== null);
    await assertAudited(testEnv, confirmed, { action: 'second_factor.enrolled', after: { has_second_factor: true } });
    const credentials = { email: person.email, password: PASSWORD };
    const again = (totp?: string) =>
      openBrowser(testEnv.baseUrl).call('POST', SESSION, { json: { ...credentials, ...(totp && { totp }) } });
    assertNotAuthenticated(await again());
    assertNotAuthenticated(await again(code));
    assert.equal((await again(codeOf(secret, 1))).status, 201);
  });

  it('cannot be enrolled without the password, nor exchanged without a fresh second factor', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    assertError(await start(browser, 'wrong'), 'permission_denied');
    const member = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const session = await logIn(testEnv, member);
    await ageSecondFactor(testEnv, member, '5 minutes');
    assertError(await start(session), 'permission_denied');
  });

  it('is confirmed only by a code of the latest secret', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    assertError(await confirm(browser, '123456'), 'state_conflict');
    const first = String((await start(browser)).json['secret']);
    const second = String((await start(browser)).json['secret']);
    const refused = await confirm(browser, codeOf(first));
    await assertDenied(testEnv, refused, { after: { reason: 'wrong one-time code' } });
    assert.equal((await confirm(browser, codeOf(second))).status, 200);
  });

  it('is not exchanged by a stolen session that knows a secret whose enrolment was begun and left', async () => {
    const member = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const session = await logIn(testEnv, member);
    const secret = String((await start(session)).json['secret']);
    await ageSecondFactor(testEnv, member, '5 minutes');
    const refused = await confirm(session, codeOf(secret));
    await assertDenied(testEnv, refused, { after: { reason: 'needs a step-up first' } });
  });

  it('is removed with password and code, and its earlier verifications no longer count', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const browser = await logIn(testEnv, person, -1);
    const other = await logIn(testEnv, person);
    for (const fields of [
      { password: 'wrong', totp: codeOf(person.totpSecret, 1) },
      { password: PASSWORD, totp: codeOf(person.totpSecret) },
      { password: PASSWORD, totp: '' },
    ]) {
      assertError(await remove(browser, fields), 'permission_denied');
    }
    assertError(await remove(browser, { password: PASSWORD }), 'parameter_missing');
    const removed = await remove(browser, { password: PASSWORD, totp: codeOf(person.totpSecret, 1) });
    assert.equal(removed.status, 200, removed.text);
    assert.equal(removed.json['has_second_factor'], false);
    await assertAudited(testEnv, removed, { action: 'second_factor.removed', before: { has_second_factor: true } });
    assert.equal((await other.call('GET', SESSION)).json['second_factor_at'], null);
    assertError(await remove(browser, { password: PASSWORD, totp: '123456' }), 'permission_denied');
  });

  it('is sealed in the database, and its secret is shown only at the start', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    const secret = String((await start(browser)).json['secret']);
    await confirm(browser, codeOf(secret));
    const tables = ['users', 'sessions', 'audit_entries'];
    for (const table of tables) {
      const { rows } = await testEnv.db.pool.query<{ row: string }>(`SELECT ${table}::text AS row FROM ${table}`);
      assert.ok(
        rows.every(({ row }) => !row.includes(secret) && !row.includes(PASSWORD)),
        table,
      );
    }
  });
});
