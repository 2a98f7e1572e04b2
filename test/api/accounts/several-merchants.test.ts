// A person of several merchants: one log-in, sessions that act for one of them each, and nothing that leads from one into another.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Role } from '../../../src/domain/accounts/member.ts';
import { newId, type MerchantId } from '../../../src/domain/ids.ts';
import { makeCollection, countRows, whileLocked } from '../../db/rows.ts';
import { rewrite } from '../../support/attestation.ts';
import { addPerson, codeOf, forgetUsedCodes, logIn, PASSWORD, type TestPerson } from '../../support/people.ts';
import { auditRows } from '../../support/audit-rows.ts';
import { openBrowser, type Browser } from '../../support/browser.ts';
import type { ApiResponse } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError, assertNotAuthenticated } from '../responses.ts';
import { columnsOf } from '../../support/values-of.ts';

const SESSION = '/v1/console/session';
const SWITCH = `${SESSION}/merchant`;
const MINUTE_S = 60;

describe('a person of two merchants', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let first: MerchantId;
  let second: MerchantId;
  beforeEach(async () => {
    first = (await testEnv.addMerchant()).id;
    second = (await testEnv.addMerchant()).id;
  });

  /** In these roles at the first and the second merchant. */
  async function addToBoth(roles: readonly Role[], rolesThere: readonly Role[]): Promise<TestPerson> {
    const email = `both.${randomBytes(5).toString('hex')}@shop.example`;
    const hasSecondFactor = [...roles, ...rolesThere].some((role) => role !== 'viewer' && role !== 'developer');
    const person = await addPerson(testEnv, first, roles, { email, hasSecondFactor });
    await addPerson(testEnv, second, rolesThere, { email });
    return person;
  }
  const switchTo = (browser: Browser, merchantId: string) =>
    browser.call('POST', SWITCH, { json: { merchant_id: merchantId } });
  const merchantIn = ({ json }: ApiResponse) => (json['merchant'] as { id: string }).id;
  const age = (person: TestPerson, seconds: number) =>
    rewrite(
      testEnv.db,
      `UPDATE sessions SET verified_at = verified_at - interval '${seconds} s',
         second_factor_at = second_factor_at - interval '${seconds} s' WHERE user_id = '${person.id}'`,
    );
  /** Both as of a log-in so long ago, with a verification just now. */
  const ageLogIn = (person: TestPerson, hours: number) =>
    rewrite(
      testEnv.db,
      `UPDATE sessions SET created_at = created_at - interval '${hours} h', expires_at = expires_at - interval '${hours} h'
       WHERE user_id = '${person.id}'`,
    );
  const remove = async (person: TestPerson, merchantId: MerchantId) => {
    const owner = await logIn(testEnv, await addPerson(testEnv, merchantId, ['owner']));
    const removed = await owner.call('DELETE', `/v1/console/members/${person.id}`);
    assert.equal(removed.status, 204, removed.text);
  };

  it('learns which they are once password and code are verified, and chooses one without a second code', async () => {
    const person = await addToBoth(['maker'], ['approver']);
    const browser = openBrowser(testEnv.baseUrl);
    const fields = { email: person.email, password: PASSWORD, totp: codeOf(person.totpSecret) };
    const refused = await browser.call('POST', SESSION, { json: { ...fields, password: 'wrong' } });
    assertNotAuthenticated(refused);
    assert.ok(!refused.text.includes(first) && !refused.text.includes(second));
    const opened = await browser.call('POST', SESSION, { json: fields });
    assert.equal(opened.status, 201, opened.text);
    const ids = (opened.json['merchants'] as { id: string }[]).map(({ id }) => id);
    assert.deepEqual(ids, [first, second]);
    const switched = await switchTo(browser, second);
    assert.equal(switched.status, 200, switched.text);
    assert.deepEqual([merchantIn(switched), switched.json['roles']], [second, ['approver']]);
    assert.equal(merchantIn(await browser.call('GET', SESSION)), second);
  });

  it('gets a new token at every switch, and the old one opens nothing', async () => {
    const person = await addToBoth(['viewer'], ['viewer']);
    const browser = await logIn(testEnv, person);
    const { cookie } = browser;
    await switchTo(browser, second);
    assert.notEqual(browser.cookie, cookie);
    assertNotAuthenticated(await browser.call('GET', SESSION, { headers: { cookie } }));
    assertNotAuthenticated(await browser.call('POST', SWITCH, { headers: { cookie }, json: { merchant_id: first } }));
    assert.equal(merchantIn(await browser.call('GET', SESSION)), second);
  });

  it('gets one session of two switches at once', async () => {
    const person = await addToBoth(['viewer'], ['viewer']);
    const browser = await logIn(testEnv, person);
    const { cookie } = browser;
    const both = await Promise.all(
      [second, second].map((id) => browser.call('POST', SWITCH, { headers: { cookie }, json: { merchant_id: id } })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
    assert.equal(await countRows(testEnv.db, 'sessions WHERE user_id = $1', [person.id]), 1);
  });

  it('cannot switch to a merchant without membership: foreign, unknown and former ones are refused alike', async () => {
    const person = await addToBoth(['viewer'], ['viewer']);
    const stranger = await testEnv.addMerchant();
    const former = await testEnv.addMerchant();
    await addPerson(testEnv, former.id, ['viewer'], { email: person.email });
    await remove(person, former.id);
    const browser = await logIn(testEnv, person);
    const texts = new Set<string>();
    for (const id of [stranger.id, former.id, newId('mer'), 'mer_', '', `${second}\0`, second.toUpperCase()]) {
      const refused = await switchTo(browser, id);
      assertError(refused, 'permission_denied');
      texts.add(refused.text.replace(/req_[0-9a-z]{26}/, 'req_'));
      const [row, ...more] = await auditRows(testEnv, refused);
      assert.deepEqual([row?.outcome, row?.after, more], ['refused', { reason: 'not a member' }, []]);
    }
    assert.equal(texts.size, 1);
    assert.equal(merchantIn(await browser.call('GET', SESSION)), first);
    assert.equal(await countRows(testEnv.db, 'audit_entries WHERE merchant_id = $1', [stranger.id]), 0);
  });

  it('is not let in by a membership that was written by hand', async () => {
    const person = await addPerson(testEnv, first, ['viewer']);
    await testEnv.db.pool.query(
      `INSERT INTO members (merchant_id, user_id, roles, created_at) VALUES ($1, $2, '{owner}', now())`,
      [second, person.id],
    );
    const browser = await logIn(testEnv, person);
    assertError(await switchTo(browser, second), 'permission_denied');
    assert.deepEqual((await browser.call('GET', SESSION)).json['merchants'], [{ id: first, name: 'Test merchant' }]);
  });

  it('is removed at one merchant while they choose, and gets to the other one alone', async () => {
    const person = await addToBoth(['viewer'], ['viewer']);
    const browser = await logIn(testEnv, person);
    await remove(person, second);
    assertError(await switchTo(browser, second), 'permission_denied');
    assert.equal((await browser.call('GET', SESSION)).status, 200);
    await addPerson(testEnv, second, ['viewer'], { email: person.email });
    await remove(person, first);
    assertNotAuthenticated(await switchTo(browser, second));
    const again = openBrowser(testEnv.baseUrl);
    const opened = await again.call('POST', SESSION, { json: { email: person.email, password: PASSWORD } });
    assert.equal(merchantIn(opened), second);
  });

  it('takes no session past a recovery or a new password that comes at the same moment', async () => {
    const person = await addToBoth(['viewer'], ['viewer']);
    const browser = await logIn(testEnv, person);
    const switched = await whileLocked(
      testEnv.db,
      { sql: 'SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE', values: [person.id] },
      () => switchTo(browser, second),
      (other) => other.query('DELETE FROM sessions WHERE user_id = $1', [person.id]),
    );
    assertNotAuthenticated(switched);
    assert.equal(await countRows(testEnv.db, 'sessions WHERE user_id = $1', [person.id]), 0);
  });

  it('keeps the session at one merchant when the other one removes them', async () => {
    const person = await addToBoth(['viewer'], ['viewer']);
    const [there, here] = [await logIn(testEnv, person), await logIn(testEnv, person)];
    await switchTo(there, second);
    await remove(person, second);
    assertNotAuthenticated(await there.call('GET', SESSION));
    assert.equal((await here.call('GET', SESSION)).status, 200);
  });

  it('must be verified within five minutes, by the factor if there is one, so that a stolen cookie is useless', async () => {
    const person = await addToBoth(['viewer'], ['owner']);
    const browser = await logIn(testEnv, person);
    await age(person, 6 * MINUTE_S);
    assertError(await switchTo(browser, second), 'permission_denied');
    const byPassword = await browser.call('POST', `${SESSION}/step-up`, { json: { password: PASSWORD } });
    assertError(byPassword, 'permission_denied');
    const needs = (await browser.call('GET', SESSION)).json['needs_step_up'] as string[];
    assert.ok(needs.includes('switchMerchant'));
    await forgetUsedCodes(testEnv, person);
    await browser.call('POST', `${SESSION}/step-up`, { json: { totp: codeOf(person.totpSecret) } });
    assert.equal((await switchTo(browser, second)).status, 200);
  });

  for (const [who, rolesThere] of [
    ['with a second factor', ['owner']],
    ['without one', ['viewer']],
  ] as const) {
    it(`keeps exactly the freshness of the log-in, ${who}: a switch is no verification`, async () => {
      const person = await addToBoth(['viewer'], rolesThere);
      const browser = await logIn(testEnv, person);
      await age(person, 4 * MINUTE_S);
      const before = (await browser.call('GET', SESSION)).json;
      const after = (await switchTo(browser, second)).json;
      const kept = ['fresh_until', 'second_factor_at', 'created_at'];
      for (const name of kept) assert.equal(after[name], before[name], name);
      await age(person, 2 * MINUTE_S);
      assertError(await switchTo(browser, first), 'permission_denied');
    });
  }

  it('gets no longer session by a switch than by a log-in there', async () => {
    const person = await addToBoth(['viewer'], ['owner']);
    const browser = await logIn(testEnv, person);
    await ageLogIn(person, 13);
    assert.equal((await browser.call('GET', SESSION)).status, 200);
    const refused = await switchTo(browser, second);
    assertError(refused, 'permission_denied');
    const [row] = await auditRows(testEnv, refused);
    assert.deepEqual(row?.after, { reason: 'the session is too old for the roles there' });
    assert.equal((await browser.call('GET', SESSION)).status, 200);
  });

  it('reaches the merchant that asks for no factor while the other one has them enrol one first', async () => {
    const person = await addPerson(testEnv, first, ['maker'], { hasSecondFactor: false });
    await addPerson(testEnv, second, ['viewer'], { email: person.email });
    const browser = await logIn(testEnv, person);
    assert.equal((await browser.call('GET', SESSION)).json['must_enrol'], true);
    const switched = await switchTo(browser, second);
    assert.equal(switched.json['must_enrol'], false, switched.text);
    const back = await switchTo(browser, first);
    assert.equal(back.json['must_enrol'], true, back.text);
    assertError(await browser.call('GET', '/v1/console/members'), 'permission_denied');
  });

  it('leaves in each merchant’s audit log its own part, without the other merchant', async () => {
    const person = await addToBoth(['maker'], ['approver']);
    const browser = await logIn(testEnv, person);
    const switched = await switchTo(browser, second);
    const { rows } = await testEnv.db.pool.query<{ merchant_id: string; action: string; text: string }>(
      'SELECT merchant_id, action, a::text AS text FROM audit_entries a WHERE request_id = $1 ORDER BY id',
      [switched.headers.get('malipo-request-id')],
    );
    assert.deepEqual(columnsOf(rows, 'merchant_id', 'action'), [
      [first, 'session.closed'],
      [second, 'session.opened'],
    ]);
    assert.ok(!rows[0]?.text.includes(second) && !rows[1]?.text.includes(first));
    assert.match(rows[1]?.text ?? '', /earlier_session/);
  });

  it('carries the failed log-ins along, so that choosing a merchant hides none', async () => {
    const person = await addToBoth(['viewer'], ['viewer']);
    const browser = openBrowser(testEnv.baseUrl);
    await browser.call('POST', SESSION, { json: { email: person.email, password: 'wrong' } });
    await browser.call('POST', SESSION, { json: { email: person.email, password: PASSWORD } });
    const switched = await switchTo(browser, second);
    assert.equal((switched.json['failed_log_ins'] as { count: number }).count, 1);
  });

  it('is refused in a page that still shows the other merchant, which then reads and creates nothing', async () => {
    const person = await addToBoth(['maker'], ['maker']);
    const browser = await logIn(testEnv, person);
    await switchTo(browser, second);
    const headers = { 'malipo-merchant': first };
    const json = { phone: '256772123456', amount: 500, reference: 'PAY-1' };
    for (const refused of [
      await browser.call('POST', '/v1/api/payouts', { json, headers }),
      await browser.call('GET', '/v1/console/payouts', { headers }),
      await browser.call('POST', `${SESSION}/step-up`, { json: {}, headers }),
    ]) {
      const { message } = assertError(refused, 'permission_denied');
      assert.match(message, /Your session is now for another merchant than this page shows/);
    }
    assert.equal(await countRows(testEnv.db, "payments WHERE kind = 'payout' AND merchant_id = $1", [second]), 0);
    const shown = await browser.call('GET', '/v1/console/payouts', { headers: { 'malipo-merchant': second } });
    assert.equal(shown.status, 200, shown.text);
  });

  it('is no second person: neither their own payout there nor another’s here is theirs to release', async () => {
    await makeCollection(testEnv.db, first, 'succeeded', { amountMinor: 100_000n });
    const person = await addToBoth(['maker', 'approver'], ['approver']);
    const browser = await logIn(testEnv, person);
    const json = { phone: '256772123456', amount: 500, reference: 'PAY-1' };
    const made = await browser.call('POST', '/v1/api/payouts', { json });
    assert.equal(made.status, 202, made.text);
    const release = `/v1/console/payouts/${String(made.json['id'])}/release`;
    const idempotencyKey = () => ({ idempotencyKey: randomBytes(8).toString('hex') });
    assertError(await browser.call('POST', release, idempotencyKey()), 'approval_self');
    await switchTo(browser, second);
    assertError(await browser.call('POST', release, idempotencyKey()), 'payout_not_found');
    assertError(await browser.call('POST', '/v1/api/payouts', { json }), 'permission_denied');
    await switchTo(browser, first);
    assertError(await browser.call('POST', release, idempotencyKey()), 'approval_self');
  });

  it('uses a code once, whichever merchant it is for', async () => {
    const person = await addToBoth(['maker'], ['approver']);
    const totp = codeOf(person.totpSecret);
    const enter = (merchantId: string) =>
      openBrowser(testEnv.baseUrl).call('POST', SESSION, {
        json: { email: person.email, password: PASSWORD, totp, merchant_id: merchantId },
      });
    assert.equal((await enter(second)).status, 201);
    assertNotAuthenticated(await enter(first));
  });
});
