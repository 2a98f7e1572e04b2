// Easily guessed passwords are refused in every form for a new password, with a reason that people can act on.
import assert from 'node:assert/strict';
import { call } from '../../support/api.ts';
import { recoveryToken } from '../../support/staff.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, logIn, logInAs, PASSWORD, enter } from '../../support/people.ts';
import { API_ONLY, assertError, issuesOf } from '../responses.ts';

const ACCEPT = '/v1/console/invitations/accept';

describe('a password that is guessed first', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));
  const post = (path: string, json: object) => call(testEnv.baseUrl, 'POST', path, { json, idempotencyKey: null });

  it('is not set by the person', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    for (const wrong of ['password1234', person.email, 'Test merchant', 'Test-Merchant-2026!']) {
      const json = { current_password: PASSWORD, new_password: wrong };
      const refused = await browser.call('POST', '/v1/console/session/password', { json });
      assert.match(assertError(refused, 'parameter_invalid').message, /too easily guessed.*Choose other words/, wrong);
      assert.deepEqual(issuesOf(refused), ['new_password parameter_invalid']);
    }
    assert.equal((await logIn(testEnv, person)).cookie !== '', true, 'the old one still counts');
  });

  it('is not set by a recovery, whose token stays valid', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const token = await recoveryToken(testEnv.db, person.email);
    const use = (password: string) => post('/v1/console/recovery', { token, new_password: password });
    for (const wrong of ['qwertyuiop12', 'Test-Merchant-2026!']) assertError(await use(wrong), 'parameter_invalid');
    assert.equal((await use('another horse, another battery')).status, 204);
  });

  it('is not accepted with an invitation, whether the person is known or not', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const owner = await logInAs(testEnv, merchantId, 'owner');
    const known = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    for (const email of ['brian.otieno@shop.example', known.email]) {
      const json = { email, roles: ['viewer'] };
      const { token } = (await owner.call('POST', '/v1/console/invitations', { json })).json;
      for (const password of ['iloveyou1234', 'brianotieno12', 'Otieno@1990#!', 'Merchant#Test#2026']) {
        const refused = await post(ACCEPT, { token, name: 'Brian Otieno', password });
        assert.deepEqual(issuesOf(refused), ['password parameter_invalid']);
      }
      assert.equal((await post(ACCEPT, { token, name: 'Brian Otieno', password: PASSWORD })).status, 201);
    }
  });

  it('is looked up ten times in a quarter of an hour for a person in a session, and for an invitation', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    const browser = await logIn(testEnv, person);
    const json = { email: 'carol.w@shop.example', roles: ['viewer'] };
    const { token } = (await owner.call('POST', '/v1/console/invitations', { json })).json;
    const weak = 'password1234';
    const change = { current_password: PASSWORD, new_password: weak };
    const choices = {
      session: () => browser.call('POST', '/v1/console/session/password', { json: change }),
      invitation: () => post(ACCEPT, { token, name: 'Carol W', password: weak }),
    };
    for (const [where, choose] of Object.entries(choices)) {
      const many = await Promise.all(Array.from({ length: 15 }, choose));
      const statuses = many.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [...Array<number>(10).fill(400), ...Array<number>(5).fill(429)], where);
    }
  });

  it('is checked only for a person who knows the password to replace', async () => {
    const browser = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
    const json = { current_password: 'not the password', new_password: 'password1234' };
    assertError(await browser.call('POST', '/v1/console/session/password', { json }), 'permission_denied');
  });
});
