// Sessions: logging in, uniform refusals, the cookie, stepping up, how long a session lasts and what ends it.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { call } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, codeOf, logInAs, logIn, PASSWORD, type TestPerson, enter } from '../../support/people.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import { cookieOf, openBrowser, type Browser } from '../../support/browser.ts';
import { API_ONLY, assertError, assertNotAuthenticated, startAnotherServer, assertDenied } from '../responses.ts';
import { valuesOf } from '../../support/values-of.ts';
import { rewrite } from '../../support/attestation.ts';

const SESSION = '/v1/console/session';

describe('logging in', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const tryWith = (fields: Record<string, unknown>, headers: Record<string, string> = {}) =>
    call(testEnv.baseUrl, 'POST', SESSION, { json: fields, headers, idempotencyKey: null });
  const credentials = (person: TestPerson) => ({ email: person.email, password: PASSWORD });

  it('opens a session that shows the person and their roles', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['developer', 'viewer']);
    const browser = openBrowser(testEnv.baseUrl);
    const response = await browser.call('POST', SESSION, { json: credentials(person) });
    assert.equal(response.status, 201, response.text);
    assert.deepEqual((response.json['person'] as { id: string }).id, person.id);
    assert.deepEqual(response.json['roles'], ['developer', 'viewer']);
    assert.equal(response.json['environment'], 'test');
    assert.equal(response.json['second_factor_at'], null);
    const look = await browser.call('GET', SESSION);
    assert.equal(look.status, 200);
    assert.deepEqual({ ...look.json, ends_at: '' }, { ...response.json, ends_at: '' });
    const after = { verified_by: 'password' };
    await assertAudited(testEnv, response, { action: 'session.opened', outcome: 'done', user_id: person.id, after });
  });

  it('accepts forms, and an email address in any case', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const response = await openBrowser(testEnv.baseUrl).call('POST', SESSION, {
      form: { email: ` ${person.email.toUpperCase()} `, password: PASSWORD },
    });
    assert.equal(response.status, 201, response.text);
  });

  it('sets a cookie for this host, HTTP only, for our own pages alone, for seven days', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const cookie = cookieOf(await tryWith(credentials(person)))!;
    assert.equal(cookie.name, 'malipo_session');
    assert.equal(Buffer.from(cookie.value, 'base64url').length, 32);
    const [maxAge, ...attributes] = cookie.attributes;
    assert.deepEqual(attributes, ['Path=/', 'HttpOnly', 'SameSite=Strict']);
    const seconds = Number(/^Max-Age=(\d+)$/.exec(maxAge ?? '')?.[1]);
    assert.ok(seconds > 7 * 86_400 - 60 && seconds <= 7 * 86_400);
  });

  it('sets a cookie for TLS alone, bound to the host, unless the service runs on the local machine', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    for (const publicUrl of ['https://pay.example', 'http://pay.example']) {
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_PUBLIC_URL: publicUrl });
      const response = await fetch(new URL(SESSION, baseUrl), {
        method: 'POST',
        body: new URLSearchParams(credentials(person)),
        headers: { origin: publicUrl },
      });
      assert.equal(response.status, 201);
      const [cookie = ''] = response.headers.getSetCookie();
      assert.match(
        cookie,
        /^__Host-malipo_session=[\w-]{43}; Max-Age=\d+; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
      );
      const look = (name: string) =>
        fetch(new URL(SESSION, baseUrl), { headers: { cookie: cookie.replace('__Host-malipo_session', name) } });
      assert.equal((await look('__Host-malipo_session')).status, 200);
      assert.equal((await look('malipo_session')).status, 401);
    }
  });

  it('stores only the digest of the token', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    const token = browser.cookie.split('=')[1]!;
    const { rows } = await testEnv.db.pool.query<{ row: string }>('SELECT sessions::text AS row FROM sessions');
    assert.ok(rows.every(({ row }) => !row.includes(token)));
    const digest = createHash('sha256').update(token).digest('hex');
    assert.ok(rows.some(({ row }) => row.includes(digest)));
  });

  it('refuses every fault in the same words, and records the reason in the audit log', async () => {
    const plain = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const secured = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const stranger = await testEnv.addMerchant();
    const used = codeOf(secured.totpSecret);
    assert.equal((await tryWith({ ...credentials(secured), totp: used })).status, 201);
    const cases: readonly (readonly [string, TestPerson | null, Record<string, unknown>])[] = [
      ['no such account', null, { email: 'nobody@shop.example', password: PASSWORD }],
      ['no such account', null, { email: 'not an address', password: '' }],
      ['wrong password', plain, { ...credentials(plain), password: 'wrong' }],
      ['wrong password', plain, { ...credentials(plain), password: '' }],
      ['wrong password', secured, { ...credentials(secured), password: 'wrong', totp: codeOf(secured.totpSecret, 1) }],
      ['no one-time code', secured, credentials(secured)],
      ['wrong or used one-time code', secured, { ...credentials(secured), totp: 'abcdef' }],
      ['wrong or used one-time code', secured, { ...credentials(secured), totp: used }],
      ['wrong or used one-time code', secured, { ...credentials(secured), totp: codeOf(secured.totpSecret, 5) }],
      ['not a member', plain, { ...credentials(plain), merchant_id: stranger.id }],
    ];
    const texts = new Set<string>();
    for (const [reason, person, fields] of cases) {
      const response = await tryWith(fields);
      assertNotAuthenticated(response);
      assert.deepEqual(response.headers.getSetCookie(), []);
      texts.add(response.text.replace(/req_[0-9a-z]{26}/, 'req_'));
      const row = await assertAudited(testEnv, response, {
        action: 'session.opened',
        outcome: 'refused',
        after: { reason },
      });
      assert.equal(row.user_id, person?.id ?? null);
    }
    assert.equal(texts.size, 1);
  });

  it('names what a request lacks, and refuses unknown fields', async () => {
    assertError(await tryWith({ email: 'a@b.co' }), 'parameter_missing');
    assertError(await tryWith({ email: 'a@b.co', password: 'x', colour: 'red' }), 'parameter_unknown');
    assertError(await tryWith({ email: 'a\0@b.co', password: 'x' }), 'parameter_invalid');
    assertError(await tryWith({ email: 7, password: 'x' }), 'parameter_invalid');
  });

  it('is refused from another site’s page', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    for (const origin of ['https://evil.example', 'null', `${testEnv.baseUrl}.evil.example`]) {
      assertNotAuthenticated(await tryWith(credentials(person), { origin }));
    }
    assert.equal((await tryWith(credentials(person), { origin: testEnv.baseUrl })).status, 201);
  });

  it('ends the session that the browser had before', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    const { cookie } = browser;
    assert.equal((await browser.call('POST', SESSION, { json: credentials(person) })).status, 201);
    assert.notEqual(browser.cookie, cookie);
    assert.equal((await browser.call('GET', SESSION)).status, 200);
    assertNotAuthenticated(await call(testEnv.baseUrl, 'GET', SESSION, { headers: { cookie } }));
  });

  it('opens a session at one of a person’s two merchants, the first unless they name the other', async () => {
    const other = await testEnv.addMerchant('KES');
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    await addPerson(testEnv, other.id, ['maker'], { email: person.email });
    const merchantOf = async (fields: Record<string, string>) =>
      (await tryWith({ ...credentials(person), ...fields })).json as {
        merchant: { id: string };
        merchants: { id: string }[];
      };
    const first = await merchantOf({});
    assert.equal(first.merchant.id, testEnv.merchant.id);
    assert.deepEqual(valuesOf(first.merchants, 'id'), [testEnv.merchant.id, other.id]);
    const second = await merchantOf({ merchant_id: other.id });
    assert.equal(second.merchant.id, other.id);
  });

  describe('with a one-time code', () => {
    it('verifies the second factor', async () => {
      const { browser } = await enter(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
      const { json } = await browser.call('GET', SESSION);
      assert.equal(json['has_second_factor'], true);
      assert.ok(Math.abs(Date.parse(String(json['second_factor_at'])) - Date.now()) < 10_000);
    });

    it('accepts the code with the space that apps show', async () => {
      const person = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
      const totp = codeOf(person.totpSecret).replace(/^(...)/, '$1 ');
      const opened = await tryWith({ ...credentials(person), totp });
      assert.equal(opened.status, 201);
      await assertAudited(testEnv, opened, { action: 'session.opened', after: { verified_by: 'one_time_code' } });
    });

    it('opens one session when several attempts use the code at once', async () => {
      for (let round = 0; round < 5; round++) {
        const person = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
        const totp = codeOf(person.totpSecret);
        const responses = await Promise.all([1, 2, 3].map(() => tryWith({ ...credentials(person), totp })));
        assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 401, 401]);
      }
    });

    it('uses up the earlier codes too', async () => {
      const person = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
      assert.equal((await tryWith({ ...credentials(person), totp: codeOf(person.totpSecret, 1) })).status, 201);
      assertNotAuthenticated(await tryWith({ ...credentials(person), totp: codeOf(person.totpSecret) }));
    });

    it('fails with the sealed secret of another person', async () => {
      const one = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
      const other = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
      const copy =
        'UPDATE users SET totp_secret_sealed = (SELECT totp_secret_sealed FROM users WHERE id = $2) WHERE id = $1';
      await testEnv.db.pool.query(copy, [one.id, other.id]);
      assertError(await tryWith({ ...credentials(one), totp: codeOf(other.totpSecret) }), 'internal_error');
    });
  });
});

describe('a session', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const age = (column: string, interval: string) =>
    rewrite(testEnv.db, `UPDATE sessions SET ${column} = ${column} - interval '${interval}'`);
  const look = (browser: Browser) => browser.call('GET', SESSION);

  /** Ends when the session is older by the last of these times, and not before. */
  async function assertEnds(browser: Browser, column: string, steps: readonly string[]): Promise<void> {
    for (const step of steps.slice(0, -1)) {
      await age(column, step);
      assert.equal((await look(browser)).status, 200);
    }
    await age(column, steps.at(-1)!);
    assertNotAuthenticated(await look(browser));
  }

  it('ends after twelve hours without use, and continues while it is used', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    await assertEnds(browser, 'last_used_at', ['11 hours 59 minutes', '11 hours 59 minutes', '12 hours 1 second']);
  });

  it('ends after seven days, however much it is used', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    await assertEnds(browser, 'created_at', ['6 days 23 hours 59 minutes', '1 minute 1 second']);
  });

  it('never outlasts the end that was recorded when it was opened', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    await rewrite(testEnv.db, `UPDATE sessions SET created_at = now() - interval '1 day', expires_at = now()`);
    assertNotAuthenticated(await look(browser));
  });

  it('ends when the person logs out, and the browser forgets it', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    const { cookie } = browser;
    const response = await browser.call('DELETE', SESSION);
    assert.equal(response.status, 204);
    assert.deepEqual(cookieOf(response), {
      name: 'malipo_session',
      value: '',
      attributes: ['Max-Age=0', 'Path=/', 'HttpOnly', 'SameSite=Strict'],
    });
    await assertAudited(testEnv, response, { action: 'session.closed', outcome: 'done' });
    assertNotAuthenticated(await call(testEnv.baseUrl, 'GET', SESSION, { headers: { cookie } }));
  });

  it('ends at once when the member is removed, and does not return with them', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    const owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    assert.equal((await owner.call('DELETE', `/v1/console/members/${person.id}`)).status, 204);
    assertNotAuthenticated(await look(browser));
    await rewrite(testEnv.db, 'UPDATE members SET removed_at = NULL WHERE user_id = $1', [person.id]);
    assertNotAuthenticated(await look(browser));
  });

  it('has the current roles of the member, not those of the log-in', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    const owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    await owner.call('PATCH', `/v1/console/members/${person.id}`, { json: { roles: ['developer'] } });
    assert.deepEqual((await look(browser)).json['roles'], ['developer']);
  });

  it('is refused with a malformed or unknown token', async () => {
    for (const token of ['', 'x', 'A'.repeat(43), '%00', `${'A'.repeat(43)}.sig`]) {
      const response = await call(testEnv.baseUrl, 'GET', SESSION, { headers: { cookie: `malipo_session=${token}` } });
      assertNotAuthenticated(response);
      assert.deepEqual(await auditRows(testEnv, response), [], 'there is nobody to record');
    }
  });

  describe('that steps up', () => {
    const stepUp = (browser: Browser, json: Record<string, unknown>) =>
      browser.call('POST', `${SESSION}/step-up`, { json });

    it('has a fresh second factor by a code, and a new token that replaces the old one', async () => {
      const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
      await rewrite(testEnv.db, `UPDATE sessions SET second_factor_at = second_factor_at - interval '1 hour'`);
      const { cookie } = browser;
      const response = await stepUp(browser, { totp: codeOf(person.totpSecret, 1) });
      assert.equal(response.status, 200, response.text);
      assert.ok(Math.abs(Date.parse(String(response.json['second_factor_at'])) - Date.now()) < 10_000);
      const after = { verified_by: 'one_time_code' };
      const stepped = { action: 'session.stepped_up', outcome: 'done', user_id: person.id, after };
      await assertAudited(testEnv, response, stepped);
      assertNotAuthenticated(await call(testEnv.baseUrl, 'GET', SESSION, { headers: { cookie } }));
      assert.equal((await look(browser)).json['created_at'], response.json['created_at']);
    });

    it('accepts the password of a person without a second factor, and shows no second factor', async () => {
      const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
      const { cookie } = browser;
      const response = await stepUp(browser, { password: PASSWORD });
      assert.equal(response.status, 200, response.text);
      assert.notEqual(browser.cookie, cookie);
      assert.equal(response.json['second_factor_at'], null);
      await assertAudited(testEnv, response, { action: 'session.stepped_up', after: { verified_by: 'password' } });
    });

    it('refuses a used, wrong or missing code, a wrong password, and a password instead of a code', async () => {
      const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
      const plain = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
      const refusals: readonly (readonly [Browser, Record<string, unknown>])[] = [
        [browser, { totp: codeOf(person.totpSecret) }],
        [browser, { totp: '000000' }],
        [browser, {}],
        [browser, { password: PASSWORD }],
        [plain, { password: 'wrong' }],
        [plain, { totp: '000000' }],
        [plain, {}],
      ];
      for (const [who, fields] of refusals) {
        const { cookie } = who;
        const response = await stepUp(who, fields);
        await assertDenied(testEnv, response, { action: `POST ${SESSION}/step-up` });
        assert.equal(who.cookie, cookie);
        assert.equal((await look(who)).status, 200, 'the session stays as it was');
      }
    });

    it('accepts a code once when two calls use it at once', async () => {
      const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
      const totp = codeOf(person.totpSecret, 1);
      const { cookie } = browser;
      const both = await Promise.all(
        [1, 2].map(() => browser.call('POST', `${SESSION}/step-up`, { json: { totp }, headers: { cookie } })),
      );
      // The other one finds the code used, or its session under a new token.
      const [done, refused] = both.map(({ status }) => status).sort();
      assert.ok(done === 200 && (refused === 401 || refused === 403), `${done} ${refused}`);
    });
  });

  describe('that changes the password', () => {
    const NEW_PASSWORD = 'another horse, another battery';
    const LONGEST = randomBytes(150).toString('base64url');
    const change = (browser: Browser, json: Record<string, unknown>) =>
      browser.call('POST', `${SESSION}/password`, { json });

    it('continues under a new token, and ends every other session of the person', async () => {
      const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
      const [browser, other] = [await logIn(testEnv, person), await logIn(testEnv, person)];
      const bystander = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
      const { cookie } = browser;
      const response = await change(browser, { current_password: PASSWORD, new_password: NEW_PASSWORD });
      assert.equal(response.status, 200, response.text);
      await assertAudited(testEnv, response, {
        action: 'password.changed',
        outcome: 'done',
        before: null,
        after: null,
      });
      assert.equal((await look(browser)).status, 200);
      assertNotAuthenticated(await look(other));
      assertNotAuthenticated(await call(testEnv.baseUrl, 'GET', SESSION, { headers: { cookie } }));
      assert.equal((await look(bystander)).status, 200);
      const again = (password: string) =>
        call(testEnv.baseUrl, 'POST', SESSION, { json: { email: person.email, password }, idempotencyKey: null });
      assertNotAuthenticated(await again(PASSWORD));
      assert.equal((await again(NEW_PASSWORD)).status, 201);
    });

    it('requires the current password, and a new one of 12 to 200 characters of any kind', async () => {
      const browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
      assertError(
        await change(browser, { current_password: 'wrong', new_password: NEW_PASSWORD }),
        'permission_denied',
      );
      for (const wrong of [LONGEST.slice(0, 11), `${LONGEST}x`]) {
        const response = await change(browser, { current_password: PASSWORD, new_password: wrong });
        assert.match(assertError(response, 'parameter_invalid').message, /12 to 200 characters/);
      }
      for (const [current, next] of [
        [PASSWORD, ' kX9#é2mQz ! '],
        [' kX9#é2mQz ! ', LONGEST],
      ] as const) {
        assert.equal((await change(browser, { current_password: current, new_password: next })).status, 200);
      }
    });
  });
});
