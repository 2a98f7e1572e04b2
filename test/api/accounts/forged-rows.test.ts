// What somebody gains who writes rows with the application's account of the database, and calls the API: nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { newId, type UserId } from '../../../src/domain/ids.ts';
import { apiKeyHint, generateApiKey, hashApiKey } from '../../../src/security/api-key.ts';
import { hashPassword } from '../../../src/security/password.ts';
import { createAuthenticator } from '../../support/authenticator.ts';
import { collectionFields } from '../../support/api.ts';
import { fund } from '../../support/payouts.ts';
import { addPerson, codeOf, enrolSecondFactor, logIn, PASSWORD, type TestPerson, enter } from '../../support/people.ts';
import { openBrowser, type Browser } from '../../support/browser.ts';
import { rewrite } from '../../support/attestation.ts';
import { addFirstStaff, AMINA, BRIAN } from '../../support/staff.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { tamper, whileLocked } from '../../db/rows.ts';
import { API_ONLY, assertError, assertNotAuthenticated } from '../responses.ts';
import { applicationDatabase, sha256, tryToLogIn } from './application-database.ts';

const SESSION = '/v1/console/session';

describe('with the application’s account of the database alone', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const database = applicationDatabase(testEnv);
  const thief = () => addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
  const victim = () => addPerson(testEnv, testEnv.merchant.id, ['approver']);
  const tryLogIn = (person: TestPerson, fields?: object) => tryToLogIn(testEnv, person, fields);
  const browserWith = (token: string): Browser => {
    const browser = openBrowser(testEnv.baseUrl);
    browser.cookie = `malipo_session=${token}`;
    return browser;
  };
  const queuedPayout = async () => {
    await fund(testEnv, testEnv.merchant, 10_000);
    const maker = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['maker']));
    const made = await maker.call('POST', '/v1/api/payouts', { json: collectionFields({ amount: 5000 }) });
    assert.equal(made.status, 202, made.text);
    return String(made.json['id']);
  };
  const release = (browser: Browser, id: string) =>
    browser.call('POST', `/v1/console/payouts/${id}/release`, { idempotencyKey: randomBytes(8).toString('hex') });

  it('nobody writes a session for themselves', async () => {
    const person = await victim();
    const token = randomBytes(32).toString('base64url');
    await database.query(
      `INSERT INTO sessions (id, token_sha256, merchant_id, user_id, created_at, last_used_at, verified_at, expires_at,
         second_factor_at, attestation)
       VALUES ($1, $2, $3, $4, now(), now(), now(), now() + interval '1 hour', now(), repeat('a', 43))`,
      [newId('ses'), sha256(token), person.merchantId, person.id],
    );
    assertNotAuthenticated(await browserWith(token).call('GET', SESSION));
    assertNotAuthenticated(await release(browserWith(token), newId('pay')));
  });

  it('nobody gives a session of their own to another person, or makes it fresh', async () => {
    const [own, other] = [await thief(), await victim()];
    for (const [assignment, value] of [
      ['user_id = $2', other.id],
      ["second_factor_at = now() + $2 * interval '1 hour'", 1],
      ["expires_at = now() + $2 * interval '1 year'", 1],
    ] as const) {
      const browser = await logIn(testEnv, own);
      assert.equal((await browser.call('GET', SESSION)).status, 200);
      const digest = sha256(browser.cookie.split('=')[1]!);
      const { rowCount } = await database.query(`UPDATE sessions SET ${assignment} WHERE token_sha256 = $1`, [
        digest,
        value,
      ]);
      assert.equal(rowCount, 1);
      assertNotAuthenticated(await browser.call('GET', SESSION));
      assertNotAuthenticated(
        await browser.call('POST', `${SESSION}/step-up`, { json: { totp: codeOf(own.totpSecret) } }),
      );
    }
  });

  it('nobody raises their own roles', async () => {
    const own = await thief();
    const browser = await logIn(testEnv, own);
    await database.query("UPDATE members SET roles = '{owner}' WHERE user_id = $1", [own.id]);
    assertNotAuthenticated(await browser.call('GET', '/v1/console/members'));
    const id = await queuedPayout();
    assertNotAuthenticated(await release(browser, id));
  });

  it('nobody shortens their own waiting time', async () => {
    const person = await victim();
    const browser = await logIn(testEnv, person);
    await database.query("UPDATE members SET roles = '{viewer}' WHERE user_id = $1", [person.id]);
    await database.query("UPDATE members SET roles = '{approver}' WHERE user_id = $1", [person.id]);
    assertNotAuthenticated(await browser.call('GET', SESSION));
  });

  it('nobody sets another person’s password or removes their second factor', async () => {
    const person = await victim();
    const password = 'a password of the thief';
    await database.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
      person.id,
      await hashPassword(password),
    ]);
    assertNotAuthenticated(await tryLogIn(person, { password, totp: codeOf(person.totpSecret) }));
    const robbed = await victim();
    await database.query('UPDATE users SET totp_secret_sealed = NULL, totp_last_step = NULL WHERE id = $1', [
      robbed.id,
    ]);
    assertNotAuthenticated(await tryLogIn(robbed));
  });

  it('nobody enrols another second factor for a session’s person', async () => {
    const person = await victim();
    const browser = await logIn(testEnv, person);
    await database.query('UPDATE users SET totp_secret_sealed = NULL, totp_last_step = NULL WHERE id = $1', [
      person.id,
    ]);
    const refused = await browser.call('POST', `${SESSION}/second-factor`, { json: { password: PASSWORD } });
    assertNotAuthenticated(refused);
  });

  it('nobody hides a second factor while a session enrols another one', async () => {
    const person = await victim();
    const browser = await logIn(testEnv, person);
    await rewrite(testEnv.db, "UPDATE sessions SET second_factor_at = now() - interval '1 hour' WHERE user_id = $1", [
      person.id,
    ]);
    const { rows } = await database.query('SELECT totp_secret_sealed AS sealed FROM users WHERE id = $1', [person.id]);
    const setSecret = (sealed: string | null) =>
      database.query('UPDATE users SET totp_secret_sealed = $2, totp_last_step = NULL WHERE id = $1', [
        person.id,
        sealed,
      ]);
    await setSecret(null);
    // The enrolment waits after its session was read, and before it reads the row of its person.
    const enrolment = await whileLocked(
      testEnv.db,
      { sql: 'LOCK TABLE attempt_counters IN ACCESS EXCLUSIVE MODE' },
      () => browser.call('POST', `${SESSION}/second-factor`, { json: { password: PASSWORD } }),
      () => setSecret((rows[0] as { sealed: string }).sealed),
    );
    assertError(enrolment, 'permission_denied');
  });

  it('nobody adds a passkey or a recovery code to another account', async () => {
    const person = await victim();
    const [authenticator, own] = [createAuthenticator(testEnv.baseUrl), await thief()];
    const browser = await logIn(testEnv, own);
    const options = await browser.call('POST', `${SESSION}/passkeys/options`, { json: { password: PASSWORD } });
    const credential = authenticator.create((options.json as { public_key: { challenge: string } }).public_key);
    const json = { name: 'My key', credential, password: PASSWORD };
    assert.equal((await browser.call('POST', `${SESSION}/passkeys`, { json })).status, 201);
    // The passkey of the thief, under another person.
    await database.query(
      `INSERT INTO passkeys (id, user_id, name, credential_id, public_key, counter, created_at, attestation)
       SELECT $1, $2, name, credential_id || '\\x00'::bytea, public_key, counter, created_at, attestation
       FROM passkeys WHERE user_id = $3`,
      [newId('psk'), person.id, own.id],
    );
    assertNotAuthenticated(await tryLogIn(person, { totp: codeOf(person.totpSecret) }));

    const other = await victim();
    const code = '0123456789abcdef0123';
    await database.query('INSERT INTO recovery_codes (user_id, code_sha256, created_at) VALUES ($1, $2, now())', [
      other.id,
      sha256(code),
    ]);
    assertNotAuthenticated(await tryLogIn(other, { recovery_code: code }));
  });

  it('nobody copies their recovery code to another account', async () => {
    const [own, other] = [await thief(), await victim()];
    const browser = await logIn(testEnv, own);
    const created = await browser.call('POST', `${SESSION}/recovery-codes`, { json: { password: PASSWORD } });
    const { codes } = created.json as { codes: string[] };
    await database.query(
      `INSERT INTO recovery_codes (user_id, code_sha256, created_at)
       SELECT $2, code_sha256, now() FROM recovery_codes WHERE user_id = $1`,
      [own.id, other.id],
    );
    assertNotAuthenticated(await tryLogIn(other, { recovery_code: codes[0]! }));
  });

  it('nobody writes the recovery of an account', async () => {
    const person = await victim();
    const token = randomBytes(32).toString('base64url');
    await addFirstStaff(testEnv.db, testEnv.config.settings.MALIPO_SECRET_KEYS);
    const proposalId = newId('spr');
    await database.query(
      `INSERT INTO staff_proposals (id, kind, payload, state, proposed_by, created_at, expires_at, attestation)
       VALUES ($1, 'recovery', $2, 'pending', $3, now(), now() + interval '1 hour', repeat('a', 43))`,
      [proposalId, JSON.stringify({ user_id: person.id, email: person.email, name: 'x', reason: 'lost' }), AMINA.id],
    );
    await database.query(
      "UPDATE staff_proposals SET state = 'confirmed', decided_by = $2, decided_at = now() WHERE id = $1",
      [proposalId, BRIAN.id],
    );
    await database.query(
      `INSERT INTO recoveries (id, user_id, proposal_id, token_sha256, created_at, expires_at, attestation)
       VALUES ($1, $2, $3, $4, now(), now() + interval '1 hour', repeat('a', 43))`,
      [newId('rcv'), person.id, proposalId, sha256(token)],
    );
    const json = { token, new_password: 'a password of the thief' };
    assertNotAuthenticated(await openBrowser(testEnv.baseUrl).call('POST', '/v1/console/recovery', { json }));
  });

  it('nobody writes an API key, or changes the expiry of theirs', async () => {
    const maker = await addPerson(testEnv, testEnv.merchant.id, ['maker']);
    const key = generateApiKey('test');
    await database.query(
      `INSERT INTO api_keys (id, merchant_id, name, environment, hint, key_sha256, scopes, created_by, created_at, expires_at)
       VALUES ($1, $2, 'Payroll', 'test', $3, $4, '{payouts:write}', $5, now(), now() + interval '1 day')`,
      [newId('key'), testEnv.merchant.id, apiKeyHint(key), hashApiKey(key), maker.id],
    );
    const pay = (text: string) =>
      openBrowser(testEnv.baseUrl).call('POST', '/v1/api/payouts', {
        json: collectionFields({ amount: 100 }),
        headers: { authorization: `Bearer ${text}` },
        idempotencyKey: randomBytes(8).toString('hex'),
      });
    assertError(await pay(key), 'api_key_invalid');
    const own = await testEnv.addKey(testEnv.merchant.id, ['payouts:write'], new Date(Date.now() + 60_000));
    assert.equal((await pay(own)).status, 202);
    const setRoles = (roles: string) =>
      database.query('UPDATE members SET roles = $2::text[] WHERE user_id = $1', [testEnv.merchant.makerId, roles]);
    await setRoles('{viewer,maker}');
    assertError(await pay(own), 'insufficient_scope');
    await setRoles('{maker}');
    // As its owner, past the rules: a key can only end sooner.
    await tamper(testEnv.db, "UPDATE api_keys SET expires_at = now() + interval '1 year' WHERE key_sha256 = $1", [
      sha256(own),
    ]);
    assertError(await pay(own), 'api_key_invalid');
  });

  it('nobody lets themselves in by an invitation', async () => {
    const token = randomBytes(32).toString('base64url');
    const owner = await addPerson(testEnv, testEnv.merchant.id, ['owner']);
    await database.query(
      `INSERT INTO proposals (id, kind, merchant_id, state, email, roles, token_sha256, proposed_by, created_at, expires_at)
       VALUES ($1, 'invitation', $2, 'pending', 'thief@shop.example', '{approver}', $3, $4, now(), now() + interval '1 hour')`,
      [newId('inv'), testEnv.merchant.id, sha256(token), owner.id],
    );
    const json = { token, name: 'Thief', password: 'a password of the thief' };
    const accepted = await openBrowser(testEnv.baseUrl).call('POST', '/v1/console/invitations/accept', { json });
    assertError(accepted, 'invitation_not_found');
    await database.query("UPDATE proposals SET state = 'withdrawn', ended_at = now() WHERE proposed_by = $1", [
      owner.id,
    ]);
  });

  it('nobody proposes in another person’s name and then approves', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const [owner, admin] = [
      await addPerson(testEnv, merchantId, ['owner']),
      await addPerson(testEnv, merchantId, ['admin']),
    ];
    const viewer = await addPerson(testEnv, merchantId, ['viewer']);
    const browser = await logIn(testEnv, admin);
    const change = newId('mch');
    await database.query(
      `INSERT INTO proposals (id, kind, merchant_id, user_id, state, roles_before, roles, proposed_by, created_at, expires_at)
       VALUES ($1, 'member_change', $2, $3, 'pending', '{viewer}', '{approver}', $4, now(), now() + interval '1 hour')`,
      [change, merchantId, viewer.id, owner.id],
    );
    const policyChange = newId('pch');
    await database.query(
      `INSERT INTO proposals (id, kind, merchant_id, state, changes, proposed_by, created_at, expires_at)
       VALUES ($1, 'policy_change', $2, 'pending', '{"two_approvers_above":null}', $3, now(), now() + interval '1 hour')`,
      [policyChange, merchantId, owner.id],
    );
    const approve = (path: string) => browser.call('POST', `/v1/console/${path}/approve`);
    assertError(await approve(`member-changes/${change}`), 'permission_denied');
    assertError(await approve(`policy/changes/${policyChange}`), 'permission_denied');
    const { rows } = await database.query('SELECT roles FROM members WHERE user_id = $1', [viewer.id]);
    assert.deepEqual(rows, [{ roles: ['viewer'] }]);
    // Nor do such rows keep that person from proposals of their own, by which they end and are attested no more than before.
    const own = await logIn(testEnv, owner);
    const propose = async (path: string, json: object) => {
      assert.equal((await own.call('PATCH', `/v1/console/${path}`, { json })).status, 202);
    };
    assert.equal((await own.call('PATCH', '/v1/console/policy', { json: { approver_daily_limit: 5 } })).status, 200);
    await propose('policy', { approver_daily_limit: null });
    await propose(`members/${viewer.id}`, { roles: ['approver'] });
    const { rows: ended } = await database.query('SELECT state, attestation FROM proposals WHERE id = ANY ($1)', [
      [change, policyChange],
    ]);
    const replaced = { state: 'replaced', attestation: '' };
    assert.deepEqual(ended, [replaced, replaced]);
  });

  it('nobody writes the policy of a merchant', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const browser = await logIn(testEnv, await addPerson(testEnv, merchantId, ['owner']));
    await database.query(
      'INSERT INTO policies (merchant_id, approver_daily_limit_minor, updated_at) VALUES ($1, 1000000, now())',
      [merchantId],
    );
    assertError(await browser.call('GET', '/v1/console/policy'), 'permission_denied');
  });

  it('nobody changes what was requested, or requests in another person’s name', async () => {
    const approver = await logIn(testEnv, await victim());
    const other: { id: UserId } = await addPerson(testEnv, testEnv.merchant.id, ['maker']);
    for (const [assignment, value] of [
      ['phone = $2', '256772999999'],
      ['amount_minor = $2', 5001],
      ['created_by = $2', other.id],
      ['approvals_required = $2', 2],
    ] as const) {
      const id = await queuedPayout();
      // As its owner, past the rules: the account of the application is refused.
      const assign = async (set: string, to: unknown) => {
        await testEnv.db.pool.query('ALTER TABLE payments DISABLE TRIGGER USER');
        await testEnv.db.pool.query(`UPDATE payments SET ${set} WHERE id = $1`, [id, to]);
        await testEnv.db.pool.query('ALTER TABLE payments ENABLE TRIGGER USER');
      };
      await assign(assignment, value);
      assertError(await release(approver, id), 'state_conflict');
      await assign('amount_minor = $2', 5000);
      const rejected = await approver.call('POST', `/v1/console/payouts/${id}/reject`, {
        json: { reason: 'it was changed by hand' },
      });
      assert.equal(rejected.status, 200, rejected.text);
    }
  });

  it('rows of the service itself still count', async () => {
    const { browser } = await enter(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: false });
    await enrolSecondFactor(browser);
    assert.equal((await release(browser, await queuedPayout())).status, 200);
  });
});
