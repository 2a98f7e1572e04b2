// Recovery of an account: two of the service's staff make the token, which works once, and the merchant's people are told.
import assert from 'node:assert/strict';
import { newToken } from '../../../src/security/token.ts';
import type { StaffMember } from '../../../src/domain/accounts/staff.ts';
import { STAFF_PROPOSAL_LIFE_MS } from '../../../src/domain/accounts/staff-proposal.ts';
import { decideOnStaffProposal, proposeAsStaff } from '../../../src/operations/accounts/staff-proposals.ts';
import { REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import { retainedSince } from '../../../src/domain/retention.ts';
import { purgeExpiredRecords } from '../../../src/operations/purge-expired-records.ts';
import { call } from '../../support/api.ts';
import { rewrite } from '../../support/attestation.ts';
import { createAuthenticator } from '../../support/authenticator.ts';
import { recordStaffAct } from '../../../src/db/accounts/audit.ts';
import { AMINA, BRIAN, recoveryOf, recoveryToken } from '../../support/staff.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, codeOf, enrolSecondFactor, logIn, PASSWORD, type TestPerson, enter } from '../../support/people.ts';
import { auditRows } from '../../support/audit-rows.ts';
import { openBrowser, type Browser } from '../../support/browser.ts';
import { API_ONLY, assertError, assertNotAuthenticated } from '../responses.ts';
import { countRows } from '../../db/rows.ts';

const RECOVERY = '/v1/console/recovery';
const SESSION = '/v1/console/session';
const NEW_PASSWORD = 'another horse, another battery';

describe('a recovery', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  const start = async ({ email }: TestPerson, at = new Date()) => ({
    token: await recoveryToken(testEnv.db, email, at),
  });
  const use = (token: unknown, password: unknown = NEW_PASSWORD, headers: Record<string, string> = {}) =>
    call(testEnv.baseUrl, 'POST', RECOVERY, { json: { token, new_password: password }, headers, idempotencyKey: null });
  const tryLogIn = ({ email }: TestPerson, password: string) =>
    openBrowser(testEnv.baseUrl).call('POST', SESSION, { json: { email, password } });

  it('sets the password, removes the second factor, and ends every session', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
    const browsers = [await logIn(testEnv, person), await logIn(testEnv, person, 1)];
    const { token } = await start(person);
    assert.equal((await browsers[0]!.call('GET', SESSION)).status, 200, 'nothing changes before the token is used');
    const used = await use(token);
    assert.equal(used.status, 204, used.text);
    for (const browser of browsers) assertNotAuthenticated(await browser.call('GET', SESSION));
    assertNotAuthenticated(await tryLogIn(person, PASSWORD));
    const back = await tryLogIn(person, NEW_PASSWORD);
    assert.deepEqual([back.status, back.json['has_second_factor']], [201, false]);
  });

  it('also removes passkeys and recovery codes, which a thief may have', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
    assert.equal(
      (await browser.call('POST', `${SESSION}/recovery-codes`, { json: { password: PASSWORD } })).status,
      201,
    );
    const options = await browser.call('POST', `${SESSION}/passkeys/options`, { json: { password: PASSWORD } });
    const credential = createAuthenticator(testEnv.baseUrl).create(
      (options.json as { public_key: { challenge: string } }).public_key,
    );
    const registered = await browser.call('POST', `${SESSION}/passkeys`, {
      json: { name: 'My key', credential, password: PASSWORD },
    });
    assert.deepEqual(registered.json['factors'], { totp: true, passkeys: 1, recovery_codes: 10 });
    assert.equal((await use((await start(person)).token)).status, 204);
    const back = await tryLogIn(person, NEW_PASSWORD);
    assert.deepEqual(back.json['factors'], { totp: false, passkeys: 0, recovery_codes: 0 });
  });

  it('begins a waiting time, in which the person moves no money', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const person = await addPerson(testEnv, merchantId, ['maker'], { hasSecondFactor: true });
    const wait = 'INSERT INTO policies (merchant_id, approver_wait_ms, updated_at) VALUES ($1, 3600000, now())';
    await rewrite(testEnv.db, wait, [merchantId]);
    const before = await (await logIn(testEnv, person)).call('GET', SESSION);
    assert.equal(before.json['moves_money_from'], null);
    const begunMs = Date.now();
    assert.equal((await use((await start(person)).token)).status, 204);
    const { moves_money_from: from } = (await tryLogIn(person, NEW_PASSWORD)).json;
    assert.ok(typeof from === 'string' && Date.parse(from) >= begunMs + 3_600_000, String(from));
  });

  it('is followed by the enrolment of another second factor before anything else, whatever the roles', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const without = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const enter = async (whose: TestPerson) => {
      assert.equal((await use(await recoveryToken(testEnv.db, whose.email))).status, 204);
      const browser = openBrowser(testEnv.baseUrl);
      const json = { email: whose.email, password: NEW_PASSWORD };
      assert.equal((await browser.call('POST', SESSION, { json })).status, 201);
      return browser;
    };
    const browser = await enter(person);
    assertError(await browser.call('GET', '/v1/api/balance'), 'permission_denied');
    await enrolSecondFactor(browser, NEW_PASSWORD);
    assert.equal((await browser.call('GET', '/v1/api/balance')).status, 200);
    assert.equal((await (await enter(without)).call('GET', '/v1/api/balance')).status, 200, 'had none before');
  });

  it('is in the audit log of every merchant of the person, from its start', async () => {
    const other = await testEnv.addMerchant();
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    await addPerson(testEnv, other.id, ['viewer'], { email: person.email });
    const { token } = await start(person);
    const used = await use(token);
    const { rows } = await testEnv.db.pool.query<{
      merchant_id: string;
      action: string;
      user_id: string | null;
      staff: string;
    }>('SELECT merchant_id, action, user_id, staff FROM audit_entries WHERE subject_id = $1 ORDER BY id', [person.id]);
    const expected = [
      ['recovery.requested', null, 'amina'],
      ['recovery.approved', null, 'brian'],
      ['recovery.used', person.id, null],
    ];
    for (const id of [testEnv.merchant.id, other.id]) {
      const own = rows.filter(({ merchant_id: merchantId }) => merchantId === id);
      const actors = own.map(({ action, user_id: userId, staff }) => [action, userId, staff]);
      assert.deepEqual(actors, expected);
    }
    const changes = (await auditRows(testEnv, used)).map(({ before, after }) => [before, after]);
    assert.deepEqual(changes, Array(2).fill([{ has_second_factor: true }, { has_second_factor: false }]));
  });

  it('keeps its reason in the service’s own audit log, and shows no merchant the reason of an earlier recovery', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const reason = 'lost the phone in hospital';
    const { db } = testEnv;
    const proposed = await recoveryOf(db, person.email, reason);
    const { id } = await proposeAsStaff(db, { proposed, by: AMINA, at: new Date() });
    const { rows } = await db.pool.query<{ merchant_id: string | null; staff: string; after: object }>(
      'SELECT merchant_id, staff, after FROM audit_entries WHERE subject_id IN ($1, $2) ORDER BY id',
      [person.id, id],
    );
    const told = rows.map(({ merchant_id: whose, staff, after }) => [whose, staff, Object.keys(after).sort()]);
    assert.deepEqual(told, [
      [merchantId, 'amina', ['expires_at']],
      [null, 'amina', ['expires_at', 'kind', 'reason', 'user_id']],
    ]);
    const before = { action: 'recovery.requested', subjectId: person.id, after: { reason, expires_at: new Date() } };
    await db.withTransaction((tx) => recordStaffAct(tx, merchantId, BRIAN, { ...before, at: new Date() }));
    const owner = await logIn(testEnv, await addPerson(testEnv, merchantId, ['owner']));
    const shown = await owner.call('GET', '/v1/console/audit?action=recovery.requested');
    const entries = shown.json['data'] as { staff: { id: string; name: string }; after: object }[];
    assert.deepEqual(
      entries.map(({ staff, after }) => [staff, Object.keys(after)]),
      [
        [{ id: BRIAN.id, name: 'brian' }, ['expires_at']],
        [{ id: AMINA.id, name: 'amina' }, ['expires_at']],
      ],
    );
    assert.ok(!shown.text.includes('hospital'));
  });

  it('has exactly one token, from another staff member than the requester', async () => {
    const { email } = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const { db } = testEnv;
    const at = new Date();
    const proposed = await recoveryOf(db, email);
    const { id } = await proposeAsStaff(db, { proposed, by: AMINA, at });
    const confirm = (by: StaffMember, when = at) =>
      decideOnStaffProposal(db, { id, decision: 'confirmed', by, at: when });
    await assert.rejects(confirm(AMINA), { code: 'state_conflict' });
    await assert.rejects(confirm(BRIAN, new Date(at.getTime() + STAFF_PROPOSAL_LIFE_MS)), { code: 'state_conflict' });
    const made = await Promise.allSettled([confirm(BRIAN), confirm(BRIAN)]);
    assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
    await assert.rejects(confirm(BRIAN), { code: 'state_conflict' });
  });

  it('is reported to the owners and admins of the merchant, and to the person', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const people = { owner: ['owner'], admin: ['admin'], developer: ['developer'], person: ['viewer'] } as const;
    const person = await addPerson(testEnv, merchantId, people.person);
    const noticesOf = async (browser: Browser) =>
      ((await browser.call('GET', SESSION)).json['notices'] as Record<string, unknown>[]).map(
        ({ kind, step, person: whose, staff }) => [kind, step, (whose as { id: string }).id, staff],
      );
    const own = await logIn(testEnv, person);
    const token = await recoveryToken(testEnv.db, person.email);
    const agreed = [
      ['recovery', 'approved', person.id, 'brian'],
      ['recovery', 'requested', person.id, 'amina'],
    ];
    assert.deepEqual(await noticesOf(own), agreed);
    assert.equal((await use(token)).status, 204);
    for (const roles of [people.owner, people.admin]) {
      const browser = await logIn(testEnv, await addPerson(testEnv, merchantId, roles));
      assert.deepEqual(await noticesOf(browser), [['recovery', 'used', person.id, null], ...agreed]);
    }
    assert.deepEqual(await noticesOf(await logIn(testEnv, await addPerson(testEnv, merchantId, people.developer))), []);
    const elsewhere = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
    assert.deepEqual(await noticesOf(elsewhere), []);
  });

  it('works once, even for two calls at once', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const { token } = await start(person);
    const both = await Promise.all([use(token), use(token, 'yet another long password')]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [204, 401]);
    assertNotAuthenticated(await use(token));
  });

  it('is replaced by a later one, and expires after 24 hours', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const first = await start(person);
    const second = await start(person);
    assertNotAuthenticated(await use(first.token));
    const startedAt = new Date(Date.now() - 24 * 60 * 60_000);
    const late = await start(person, startedAt);
    assertNotAuthenticated(await use(second.token));
    assertNotAuthenticated(await use(late.token));
    assert.equal((await tryLogIn(person, PASSWORD)).status, 201, 'nothing was changed');
    const now = new Date();
    const ended = { retainedSince: retainedSince(REAL_CLOCKS, now), endedBefore: now, limit: 10 };
    assert.ok((await purgeExpiredRecords(testEnv.db, ended)) >= 1);
    assert.equal(await countRows(testEnv.db, 'recoveries WHERE user_id = $1', [person.id]), 0);
  });

  it('requires an acceptable password, and is not used up by a refused one', async () => {
    const { token } = await start(await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
    assertError(await use(token, 'x'.repeat(11)), 'parameter_invalid');
    assertError(await use(undefined), 'parameter_missing');
    assert.equal((await use(token)).status, 204);
  });

  it('refuses any other token, and limits an address to fifty attempts', async () => {
    const { token } = await start(await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
    for (const other of ['', 'x', '\0'.repeat(43)]) {
      const refused = await use(other);
      assertNotAuthenticated(refused);
      assert.deepEqual(await auditRows(testEnv, refused), []);
    }
    await testEnv.db.pool.query("UPDATE attempt_counters SET failures = 50 WHERE subject LIKE 'address/%'");
    assertError(await use(newToken().token), 'rate_limited');
    assertError(await use(token), 'rate_limited');
    await testEnv.db.pool.query('DELETE FROM attempt_counters');
    assert.equal((await use(token)).status, 204);
    const failed = await countRows(testEnv.db, 'attempt_counters WHERE failures > 0');
    assert.equal(failed, 0, 'the right token takes back its own attempt');
  });

  it('is refused from another site, and its token opens no session', async () => {
    const { token } = await start(await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
    assertNotAuthenticated(await use(token, NEW_PASSWORD, { origin: 'https://shop.example' }));
    const asSession = await call(testEnv.baseUrl, 'GET', SESSION, { headers: { cookie: `malipo_session=${token}` } });
    assertNotAuthenticated(asSession);
  });

  it('discards a second factor whose enrolment somebody else began', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    const enrolment = await browser.call('POST', `${SESSION}/second-factor`, { json: { password: PASSWORD } });
    const secret = String(enrolment.json['secret']);
    await use((await start(person)).token);
    const again = openBrowser(testEnv.baseUrl);
    await again.call('POST', SESSION, { json: { email: person.email, password: NEW_PASSWORD } });
    const confirmed = await again.call('POST', `${SESSION}/second-factor/confirm`, { json: { totp: codeOf(secret) } });
    assertError(confirmed, 'state_conflict');
  });
});
