// Passkeys as second factors: with a software authenticator that signs as a real one does, through the real library.
import assert from 'node:assert/strict';
import { createAuthenticator, type Authenticator, type Faults } from '../../support/authenticator.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, codeOf, logIn, PASSWORD, type TestPerson, enter, ageSecondFactor } from '../../support/people.ts';
import { assertAudited } from '../../support/audit-rows.ts';
import { openBrowser, type Browser } from '../../support/browser.ts';
import { API_ONLY, assertError, assertNotAuthenticated, assertDenied } from '../responses.ts';
import { rewrite } from '../../support/attestation.ts';
import { tamper } from '../../db/rows.ts';

const SESSION = '/v1/console/session';
const PASSKEYS = `${SESSION}/passkeys`;
type Options = { public_key: { challenge: string } };

describe('a passkey', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  const optionsOf = async (browser: Browser, path: string, json?: object) => {
    const response = await browser.call('POST', path, json && { json });
    assert.equal(response.status, 201, response.text);
    return (response.json as unknown as Options).public_key;
  };
  const register = async (browser: Browser, authenticator: Authenticator, faults: Faults = {}) => {
    const options = await optionsOf(browser, `${PASSKEYS}/options`, { password: PASSWORD });
    const credential = authenticator.create(options, faults);
    return browser.call('POST', PASSKEYS, { json: { name: 'My key', credential, password: PASSWORD } });
  };
  const remove = (browser: Browser, id: string, password = PASSWORD) =>
    browser.call('POST', `${PASSKEYS}/${id}/remove`, { json: { password } });
  const logInOptions = (email: string) => optionsOf(openBrowser(testEnv.baseUrl), `${SESSION}/options`, { email });
  const logInWith = (person: TestPerson, fields: object) =>
    openBrowser(testEnv.baseUrl).call('POST', SESSION, {
      json: { email: person.email, password: PASSWORD, ...fields },
    });
  const withPasskey = async (roles: Parameters<typeof addPerson>[2] = ['approver']) => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, roles, { hasSecondFactor: false });
    const authenticator = createAuthenticator(testEnv.baseUrl);
    const registered = await register(browser, authenticator);
    assert.equal(registered.status, 201, registered.text);
    return { person, browser, authenticator, registered };
  };

  it('is the second factor that a role requires, and is required at every log-in', async () => {
    const { person, browser, authenticator, registered } = await withPasskey();
    const { must_enrol: mustEnrol, factors } = registered.json as { must_enrol: boolean; factors: object };
    assert.deepEqual([mustEnrol, factors], [false, { totp: false, passkeys: 1, recovery_codes: 0 }]);
    await assertAudited(testEnv, registered, { action: 'passkey.registered', outcome: 'done' });
    assert.equal((await browser.call('GET', '/v1/console/members')).status, 200);
    assertNotAuthenticated(await logInWith(person, {}));
    assertNotAuthenticated(await logInWith(person, { totp: '000000' }));
    const opened = await logInWith(person, { passkey: authenticator.get(await logInOptions(person.email)) });
    assert.equal(opened.status, 201, opened.text);
    assert.ok(opened.json['second_factor_at'] !== null && opened.json['fresh_until'] !== null);
  });

  it('ends every session of the password alone when it is registered', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: false });
    const [own, another] = [await logIn(testEnv, person), await logIn(testEnv, person)];
    assert.equal((await register(own, createAuthenticator(testEnv.baseUrl))).status, 201);
    assertNotAuthenticated(await another.call('GET', SESSION));
    assert.equal((await own.call('GET', '/v1/console/members')).status, 200);
  });

  it('is no substitute for the password, and belongs to its person alone', async () => {
    const { person, authenticator } = await withPasskey();
    const other = await withPasskey();
    const passkey = authenticator.get(await logInOptions(person.email));
    assertNotAuthenticated(await logInWith(person, { password: 'wrong', passkey }));
    const foreign = other.authenticator.get(await logInOptions(person.email));
    const refused = await logInWith(person, { passkey: foreign });
    assertNotAuthenticated(refused);
    await assertAudited(testEnv, refused, { outcome: 'refused', after: { reason: 'unknown passkey' } });
  });

  it('admits nobody with another key that was written into its row past the rules of the database', async () => {
    const { person, authenticator } = await withPasskey();
    const thief = await withPasskey(['viewer']);
    assert.equal(
      (await logInWith(person, { passkey: authenticator.get(await logInOptions(person.email)) })).status,
      201,
    );
    const { rows } = await testEnv.db.pool.query<{ id: Buffer; key: Buffer }>(
      'SELECT credential_id AS id, public_key AS key FROM passkeys WHERE user_id = $1',
      [thief.person.id],
    );
    const write = (userId: string, credentialId: Buffer) =>
      tamper(testEnv.db, 'UPDATE passkeys SET credential_id = $2, public_key = $3, counter = 0 WHERE user_id = $1', [
        userId,
        credentialId,
        rows[0]!.key,
      ]);
    await write(thief.person.id, Buffer.from([0]));
    await write(person.id, rows[0]!.id);
    const passkey = thief.authenticator.get(await logInOptions(person.email));
    assertNotAuthenticated(await logInWith(person, { passkey }));
  });

  it('signs a challenge once, for its own purpose and person', async () => {
    const { person, browser, authenticator } = await withPasskey();
    const other = await withPasskey();
    const options = await logInOptions(person.email);
    assert.equal((await logInWith(person, { passkey: authenticator.get(options) })).status, 201);
    assertNotAuthenticated(await logInWith(person, { passkey: authenticator.get(options) }));
    const foreign = await logInOptions(other.person.email);
    assertNotAuthenticated(await logInWith(person, { passkey: authenticator.get(foreign) }));
    const stepUp = await optionsOf(browser, `${SESSION}/step-up/options`);
    assertNotAuthenticated(await logInWith(person, { passkey: authenticator.get(stepUp) }));
    const late = await logInOptions(person.email);
    await testEnv.db.pool.query('UPDATE passkey_challenges SET expires_at = now()');
    assertNotAuthenticated(await logInWith(person, { passkey: authenticator.get(late) }));
    const both = await logInOptions(person.email);
    const outcomes = await Promise.all([1, 2].map(() => logInWith(person, { passkey: authenticator.get(both) })));
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), [201, 401]);
  });

  it('is refused from another origin or host, without user verification, or as another ceremony', async () => {
    const { person, authenticator } = await withPasskey();
    const faults: readonly Faults[] = [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { isUserVerified: false },
      { type: 'webauthn.create' },
      { challenge: 'A'.repeat(43) },
    ];
    for (const fault of faults) {
      const passkey = authenticator.get(await logInOptions(person.email), fault);
      assertNotAuthenticated(await logInWith(person, { passkey }));
    }
    for (const passkey of ['', '{}', 'null', '{"id":1,"response":{}}', '[]']) {
      assertNotAuthenticated(await logInWith(person, { passkey }));
    }
    const browser = await logIn(
      testEnv,
      await addPerson(testEnv, testEnv.merchant.id, ['maker'], { hasSecondFactor: false }),
    );
    for (const fault of faults.slice(0, 3)) {
      assertError(await register(browser, createAuthenticator(testEnv.baseUrl), fault), 'permission_denied');
    }
  });

  it('is refused, on record, when its counter does not rise', async () => {
    const { person, authenticator } = await withPasskey();
    const attempt = async (counter: number) =>
      logInWith(person, { passkey: authenticator.get(await logInOptions(person.email), { counter }) });
    const opened = await attempt(7);
    assert.equal(opened.status, 201);
    await assertAudited(testEnv, opened, { action: 'session.opened', after: { verified_by: 'passkey' } });
    for (const counter of [7, 6, 0]) {
      const refused = await attempt(counter);
      assertNotAuthenticated(refused);
      const reason = 'the counter of the passkey went back: somebody may have a copy of it';
      await assertAudited(testEnv, refused, { action: 'session.opened', outcome: 'refused', after: { reason } });
    }
    assert.equal((await attempt(8)).status, 201);
  });

  it('steps a session up', async () => {
    const { person, browser, authenticator } = await withPasskey();
    const age = () =>
      rewrite(testEnv.db, `UPDATE sessions SET second_factor_at = now() - interval '1 hour' WHERE user_id = $1`, [
        person.id,
      ]);
    await age();
    const stepUp = (fields: object) => browser.call('POST', `${SESSION}/step-up`, { json: fields });
    assertError(await stepUp({ password: PASSWORD }), 'permission_denied');
    const passkey = authenticator.get(await optionsOf(browser, `${SESSION}/step-up/options`));
    const done = await stepUp({ passkey });
    assert.equal(done.status, 200, done.text);
    assert.ok(Date.parse(String(done.json['fresh_until'])) > Date.now());
    await assertAudited(testEnv, done, { action: 'session.stepped_up', after: { verified_by: 'passkey' } });
    assertError(await stepUp({ passkey }), 'permission_denied');
  });

  it('is registered beside an authenticator app with a fresh second factor only, and each can then be removed', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['approver']);
    await ageSecondFactor(testEnv, person, '5 minutes');
    const refused = await browser.call('POST', `${PASSKEYS}/options`, { json: { password: PASSWORD } });
    await assertDenied(testEnv, refused, { after: { reason: 'needs a step-up first' } });
    const fresh = await logIn(testEnv, person);
    const authenticator = createAuthenticator(testEnv.baseUrl);
    assert.equal((await register(fresh, authenticator)).status, 201);
    assertError(await register(fresh, authenticator), 'state_conflict');
    const removal = { password: PASSWORD, totp: codeOf(person.totpSecret, 1) };
    const removed = await fresh.call('POST', `${SESSION}/second-factor/remove`, { json: removal });
    assert.equal(removed.status, 200, removed.text);
    assert.equal(removed.json['has_second_factor'], true);
    const [only] = (await fresh.call('GET', PASSKEYS)).json['data'] as { id: string; name: string }[];
    const passkey = authenticator.get(await optionsOf(fresh, `${SESSION}/step-up/options`));
    assert.equal((await fresh.call('POST', `${SESSION}/step-up`, { json: { passkey } })).status, 200);
    assertError(await remove(fresh, only!.id), 'state_conflict');
  });

  it('is registered and removed only with the password, even in a fresh session, and attempts are limited', async () => {
    const { person, browser, authenticator } = await withPasskey(['viewer']);
    const [own] = (await browser.call('GET', PASSKEYS)).json['data'] as { id: string }[];
    const another = createAuthenticator(testEnv.baseUrl);
    const credential = another.create(await optionsOf(browser, `${PASSKEYS}/options`, { password: PASSWORD }));
    const acts = [
      () => browser.call('POST', `${PASSKEYS}/options`, { json: { password: 'wrong' } }),
      () => browser.call('POST', PASSKEYS, { json: { name: 'Mine', credential, password: 'wrong' } }),
      () => remove(browser, own!.id, 'wrong'),
    ];
    for (const act of acts) {
      const refused = await act();
      await assertDenied(testEnv, refused, { after: { reason: 'wrong password' } });
    }
    const registered = await browser.call('POST', PASSKEYS, { json: { name: 'Mine', credential, password: PASSWORD } });
    assert.equal(registered.status, 201, 'a wrong password uses up no challenge');
    for (let n = 0; n < 7; n++) assertError(await acts[n % 3]!(), 'permission_denied');
    for (const act of acts) assertError(await act(), 'rate_limited');
    assertError(await remove(browser, own!.id), 'rate_limited');
    const passkey = authenticator.get(await logInOptions(person.email));
    assert.equal((await logInWith(person, { passkey })).status, 201, 'its person has it as before');
  });

  it('is listed, named and removed by its person alone', async () => {
    const { browser, person, authenticator } = await withPasskey(['viewer']);
    const stranger = await withPasskey(['viewer']);
    const list = async (who: Browser) =>
      (await who.call('GET', PASSKEYS)).json['data'] as { id: string; name: string }[];
    const [own] = await list(browser);
    assert.equal(own!.name, 'My key');
    const path = `${PASSKEYS}/${own!.id}`;
    assertError(await stranger.browser.call('PATCH', path, { json: { name: 'x' } }), 'passkey_not_found');
    assertError(await remove(stranger.browser, own!.id), 'passkey_not_found');
    const named = await browser.call('PATCH', path, { json: { name: 'The blue one' } });
    assert.equal(named.status, 204, named.text);
    assert.equal((await list(browser))[0]!.name, 'The blue one');
    const removed = await remove(browser, own!.id);
    assert.equal(removed.status, 204, removed.text);
    await assertAudited(testEnv, removed, { action: 'passkey.removed', before: { name: 'The blue one' } });
    assert.deepEqual(await list(browser), []);
    assert.equal((await logInWith(person, {})).status, 201, 'the password is enough for a viewer again');
    const passkey = authenticator.get(await logInOptions(person.email));
    assertNotAuthenticated(await logInWith(person, { passkey }));
  });

  it('takes no guess at a password past the limits: not for a person without a second factor, nor as text that is none', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const passkey = createAuthenticator(testEnv.baseUrl).get(await logInOptions(person.email));
    assertNotAuthenticated(await logInWith(person, { passkey }));
    for (let n = 0; n < 10; n++) assertNotAuthenticated(await logInWith(person, { password: 'wrong', passkey: '{}' }));
    assertError(await logInWith(person, { passkey: '{}' }), 'rate_limited');
  });

  it('lets the person in while strangers use up the attempts of the account', async () => {
    const { person, authenticator } = await withPasskey();
    for (let n = 0; n < 10; n++) assertNotAuthenticated(await logInWith(person, { password: 'wrong' }));
    assertError(await logInWith(person, {}), 'rate_limited');
    const opened = await logInWith(person, { passkey: authenticator.get(await logInOptions(person.email)) });
    assert.equal(opened.status, 201, opened.text);
  });
});
