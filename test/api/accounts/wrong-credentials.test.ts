// A wrong password, code or token is refused with one text for all parts of a person’s credentials.
import assert from 'node:assert/strict';
import { addPerson, codeOf, logIn, PASSWORD, type TestPerson } from '../../support/people.ts';
import { openBrowser } from '../../support/browser.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError, assertNotAuthenticated } from '../responses.ts';

const SESSION = '/v1/console/session';
const MESSAGE = 'E-mail, password or code is not right.';

describe('wrong credentials', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const WRONG = 'not the password of anybody';
  let person: TestPerson;
  before(async () => {
    person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
  });

  it('are refused at the log-in with “E-mail, password or code is not right”, whatever is wrong', async () => {
    const browser = openBrowser(testEnv.baseUrl);
    const { email } = person;
    for (const json of [
      { email: 'nobody@shop.example', password: PASSWORD },
      { email, password: WRONG, totp: codeOf(person.totpSecret) },
      { email, password: PASSWORD, totp: '000000' },
      { email, password: PASSWORD },
      { email, password: PASSWORD, recovery_code: '00000-00000-00000-00000' },
    ]) {
      assert.equal(assertNotAuthenticated(await browser.call('POST', SESSION, { json })).message, MESSAGE);
    }
  });

  it('are refused in the same words when a known person accepts an invitation', async () => {
    const admin = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['owner', 'viewer']));
    const stranger = await addPerson(testEnv, (await testEnv.addMerchant()).id, ['viewer']);
    const json = { email: stranger.email, roles: ['viewer'] };
    const { json: invitation } = await admin.call('POST', '/v1/console/invitations', { json });
    const refused = await openBrowser(testEnv.baseUrl).call('POST', '/v1/console/invitations/accept', {
      json: { token: invitation['token'], name: 'Grace', password: WRONG },
    });
    assert.equal(assertNotAuthenticated(refused).message, MESSAGE);
  });

  const acts: readonly (readonly [string, Record<string, string>])[] = [
    ['step-up', { totp: '000000' }],
    ['step-up', {}],
    ['password', { current_password: WRONG, new_password: 'seven quiet herons at the ford' }],
    ['second-factor', { password: WRONG }],
    ['second-factor/remove', { password: WRONG, totp: '000000' }],
    ['second-factor/remove', { password: PASSWORD, totp: '000000' }],
    ['recovery-codes', { password: WRONG }],
    ['passkeys/options', { password: WRONG }],
  ];
  for (const [path, json] of acts) {
    it(`are refused in the same words in a session, by ${path} with ${Object.keys(json).join(' and ') || 'nothing'}`, async () => {
      const browser = await logIn(testEnv, person);
      const refused = await browser.call('POST', `${SESSION}/${path}`, { json });
      assert.equal(assertError(refused, 'permission_denied').message, MESSAGE);
    });
  }

  it('are distinguished from a missing right', async () => {
    const browser = await logIn(testEnv, person);
    const refused = await browser.call('DELETE', `/v1/console/members/${person.id}`);
    assert.match(assertError(refused, 'permission_denied').message, /^You may not do this/);
  });

  it('name an invalid recovery token, and the source of a new one', async () => {
    const json = { token: 'A'.repeat(43), new_password: 'seven quiet herons at the ford' };
    const refused = await openBrowser(testEnv.baseUrl).call('POST', '/v1/console/recovery', { json });
    assert.match(
      assertNotAuthenticated(refused).message,
      /^This recovery does not exist or is no longer open\. Ask the staff/,
    );
  });
});
