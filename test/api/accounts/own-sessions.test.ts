// The list of a person's own sessions, how they end them, and how an owner or admin ends those of a member.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import { hashToken } from '../../../src/security/token.ts';
import { call } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, logIn, logInAs, enter, ageSecondFactor } from '../../support/people.ts';
import { assertAudited } from '../../support/audit-rows.ts';
import { openBrowser, cookieOf, type Browser } from '../../support/browser.ts';
import { valuesOf } from '../../support/values-of.ts';
import { API_ONLY, assertError, assertNotAuthenticated } from '../responses.ts';

const SESSIONS = '/v1/console/sessions';
const MEMBERS = '/v1/console/members';

describe('the sessions of a person', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const list = async (browser: Browser) =>
    (await browser.call('GET', SESSIONS)).json['data'] as { id: string; is_current: boolean; user_agent: string }[];
  const isOpen = async (browser: Browser) => (await browser.call('GET', '/v1/console/session')).status === 200;

  it('are listed with the current one marked, without those of others', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const [one, other] = [await logIn(testEnv, person), await logIn(testEnv, person)];
    await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    const [own, others] = [await list(one), await list(other)];
    assert.equal(own.length, 2);
    assert.deepEqual(valuesOf(own, 'id').sort(), valuesOf(others, 'id').sort());
    const currentOf = (rows: typeof own) => rows.filter((row) => row.is_current).map(({ id }) => id);
    assert.equal(currentOf(own).length, 1);
    assert.notDeepEqual(currentOf(own), currentOf(others));
  });

  it('show the address and the shortened browser name of their log-in', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    const headers = { 'user-agent': `Mozilla/5.0 ${'x'.repeat(300)}` };
    await browser.call('POST', '/v1/console/session', {
      headers,
      json: { email: person.email, password: 'correct horse battery staple' },
    });
    const [shown] = (await browser.call('GET', SESSIONS)).json['data'] as Record<string, string>[];
    assert.equal(shown!['address'], '127.0.0.1');
    assert.equal(shown!['user_agent'], headers['user-agent'].slice(0, 200));
  });

  it('are listed no longer than they last', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['maker']);
    const [one] = [await logIn(testEnv, person), await logIn(testEnv, person)];
    await testEnv.db.pool.query(
      `UPDATE sessions SET last_used_at = now() - interval '31 minutes'
       WHERE id = (SELECT max(id) FROM sessions WHERE user_id = $1)`,
      [person.id],
    );
    assert.equal((await list(one)).length, 1);
  });

  it('are ended one by one, only by their person', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const [one, other] = [await logIn(testEnv, person), await logIn(testEnv, person)];
    const id = (await list(other)).find((row) => row.is_current)!.id;
    const stranger = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    assertError(await stranger.call('DELETE', `${SESSIONS}/${id}`), 'session_not_found');
    assert.ok(await isOpen(other));
    const ended = await one.call('DELETE', `${SESSIONS}/${id}`);
    assert.equal(ended.status, 204, ended.text);
    await assertAudited(testEnv, ended, { action: 'session.ended', subject_id: id, user_id: person.id });
    assertNotAuthenticated(await other.call('GET', SESSIONS));
    assert.ok(await isOpen(one));
    assertError(await one.call('DELETE', `${SESSIONS}/${id}`), 'session_not_found');
  });

  it('are at most twenty at one merchant: a further log-in ends the least recently used one, on record', async () => {
    const other = await testEnv.addMerchant();
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    await addPerson(testEnv, other.id, ['viewer'], { email: person.email });
    const elsewhere = await logIn(testEnv, { ...person, merchantId: other.id });
    // No more at once: an attempt counts as failed until it is verified.
    const fiveAtOnce = () => Promise.all(Array.from({ length: 5 }, () => logIn(testEnv, person)));
    const browsers: Browser[] = [];
    while (browsers.length < 20) browsers.push(...(await fiveAtOnce()));
    // One that is kept after its end counts no more.
    await testEnv.db.pool.query(
      `INSERT INTO sessions (id, token_sha256, merchant_id, user_id, created_at, last_used_at, verified_at, expires_at)
       SELECT $2, sha256('ended'), merchant_id, user_id, now() - interval '8 days', now() + interval '1 hour',
              now() - interval '8 days', now() - interval '1 day'
       FROM sessions WHERE user_id = $1 AND merchant_id = $3 LIMIT 1`,
      [person.id, newId('ses'), person.merchantId],
    );
    assert.equal((await list(browsers[0]!)).length, 20);
    const token = (browser: Browser) => hashToken(browser.cookie.split('=')[1]!);
    const use = (browser: Browser, ago: string) =>
      testEnv.db.pool.query('UPDATE sessions SET last_used_at = now() - $2::interval WHERE token_sha256 = $1', [
        token(browser),
        ago,
      ]);
    await use(browsers[7]!, '3 hours');
    await use(browsers[3]!, '2 hours');
    const browser = openBrowser(testEnv.baseUrl);
    const json = { email: person.email, password: 'correct horse battery staple', merchant_id: person.merchantId };
    const opened = await browser.call('POST', '/v1/console/session', { json });
    await assertAudited(testEnv, opened, { after: { verified_by: 'password', sessions_ended: 1 } });
    assert.equal((await list(browser)).length, 20);
    assertNotAuthenticated(await browsers[7]!.call('GET', SESSIONS));
    assert.ok(await isOpen(browsers[3]!));

    // Many log-ins at once leave no more, and each of them succeeds.
    const [last] = await fiveAtOnce();
    assert.equal((await list(last!)).length, 20);
    assert.ok(await isOpen(elsewhere), 'those at another merchant are counted there');
  });

  it('make their browser drop its stored data once they have ended, and not before', async () => {
    const clears = ({ headers }: { headers: Headers }) => headers.get('clear-site-data');
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const [first, second, third] = [
      await logIn(testEnv, person),
      await logIn(testEnv, person),
      await logIn(testEnv, person),
    ];
    assert.equal(clears(await first.call('GET', '/v1/console/session')), null);
    const stepUp = { json: { password: 'wrong' } };
    assert.equal(
      clears(await first.call('POST', '/v1/console/session/step-up', stepUp)),
      null,
      'refused, and still alive',
    );
    assert.equal(
      clears(await call(testEnv.baseUrl, 'GET', '/v1/console/session')),
      null,
      'without a session there is nothing',
    );
    assert.equal(clears(await first.call('DELETE', '/v1/console/session')), '"cache", "storage"');

    const { data } = (await second.call('GET', SESSIONS)).json as {
      data?: { id: string; is_current: boolean }[];
    };
    const idOf = (isCurrent: boolean) => data!.find((row) => row.is_current === isCurrent)!.id;
    const other = await second.call('DELETE', `${SESSIONS}/${idOf(false)}`);
    assert.deepEqual([other.status, clears(other), cookieOf(other)], [204, null, null]);
    const ended = await third.call('GET', '/v1/console/session');
    assertNotAuthenticated(ended);
    assert.equal(clears(ended), '"cache", "storage"', 'its browser learns it with the next request');
    assert.deepEqual(ended.headers.getSetCookie(), [], 'a newer cookie stays');
    const own = await second.call('DELETE', `${SESSIONS}/${idOf(true)}`);
    assert.deepEqual([own.status, clears(own), cookieOf(own)?.value], [204, '"cache", "storage"', '']);
  });

  it('are ended together, except the current one', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const browsers = [await logIn(testEnv, person), await logIn(testEnv, person), await logIn(testEnv, person)];
    const bystander = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    const ended = await browsers[0]!.call('DELETE', SESSIONS);
    assert.equal(ended.status, 204, ended.text);
    await assertAudited(testEnv, ended, { action: 'session.others_ended', after: { ended: 2 } });
    assert.deepEqual(await Promise.all(browsers.map(isOpen)), [true, false, false]);
    assert.ok(await isOpen(bystander));
  });

  it('are ended by an owner or admin with a fresh second factor, at their own merchant', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const other = await testEnv.addMerchant();
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    await addPerson(testEnv, other.id, ['viewer'], { email: person.email });
    const [here, there] = [await logIn(testEnv, person), await logIn(testEnv, { ...person, merchantId: other.id })];
    const end = (by: Browser) => by.call('DELETE', `${MEMBERS}/${person.id}/sessions`);
    const { person: admin, browser } = await enter(testEnv, merchantId, ['admin']);
    assertError(await end(await logInAs(testEnv, merchantId, 'approver')), 'permission_denied');
    await ageSecondFactor(testEnv, admin, '5 minutes');
    assertError(await end(browser), 'permission_denied');
    assert.ok(await isOpen(here));
    const ended = await end(await logIn(testEnv, admin));
    assert.equal(ended.status, 204, ended.text);
    const entry = { action: 'member.sessions_ended', user_id: admin.id, subject_id: person.id, after: { ended: 1 } };
    await assertAudited(testEnv, ended, entry);
    assert.deepEqual([await isOpen(here), await isOpen(there)], [false, true]);
    const again = await logIn(testEnv, person);
    const { data } = (await again.call('GET', '/v1/console/audit')).json as { data?: { action: string }[] };
    assert.ok(
      data?.some(({ action }) => action === 'member.sessions_ended'),
      'the person reads who did it',
    );
    assertError(await (await logInAs(testEnv, other.id, 'maker')).call('DELETE', SESSIONS + '/x'), 'session_not_found');
  });
});
