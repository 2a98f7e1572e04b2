// The list of a person's own sessions, how they end them, and how an owner or admin ends those of a member.
import assert from 'node:assert/strict';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, assertAudited, logIn, logInAs, type Browser } from '../../support/people.ts';
import { valuesOf } from '../../support/values-of.ts';
import { API_ONLY, assertError, assertNotAuthenticated } from '../responses.ts';

const SESSIONS = '/v1/console/sessions';
const MEMBERS = '/v1/console/members';

describe('the sessions of a person', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const list = async (browser: Browser) =>
    (await browser.call('GET', SESSIONS)).json['data'] as { id: string; is_current: boolean; user_agent: string }[];
  const isOpen = async (browser: Browser) => (await browser.call('GET', '/v1/console/session')).status === 200;

  it('are listed with the current one marked, and nobody else’s among them', async () => {
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

  it('show from where they were opened and by which browser, shortened', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const browser = await logIn(testEnv, person);
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

  it('are ended one by one by their person, and by nobody else', async () => {
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

  it('are ended together, but for the one in use', async () => {
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
    const admin = await addPerson(testEnv, merchantId, ['admin']);
    const browser = await logIn(testEnv, admin);
    assertError(await end(await logInAs(testEnv, merchantId, 'approver')), 'permission_denied');
    await testEnv.db.pool.query(
      `UPDATE sessions SET second_factor_at = second_factor_at - interval '5 minutes' WHERE user_id = $1`,
      [admin.id],
    );
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
