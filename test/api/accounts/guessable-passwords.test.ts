// Passwords that are guessed first are refused wherever a person chooses one, with a reason that they can act on.
import assert from 'node:assert/strict';
import { call } from '../../support/api.ts';
import { recoveryToken } from '../../support/staff.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, logIn, logInAs, PASSWORD } from '../../support/people.ts';
import { API_ONLY, assertError, issuesOf } from '../responses.ts';

const ACCEPT = '/v1/console/invitations/accept';

describe('a password that is guessed first', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const post = (path: string, json: object) => call(testEnv.baseUrl, 'POST', path, { json, idempotencyKey: null });

  it('is not set by the person', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const browser = await logIn(testEnv, person);
    for (const wrong of ['password1234', person.email, 'Test merchant']) {
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
    assertError(await use('qwertyuiop12'), 'parameter_invalid');
    assert.equal((await use('another horse, another battery')).status, 204);
  });

  it('is not accepted with an invitation, whether the person is known or not', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const owner = await logInAs(testEnv, merchantId, 'owner');
    const known = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    for (const email of ['brian.otieno@shop.example', known.email]) {
      const json = { email, roles: ['viewer'] };
      const { token } = (await owner.call('POST', '/v1/console/invitations', { json })).json;
      for (const password of ['iloveyou1234', 'brianotieno12']) {
        const refused = await post(ACCEPT, { token, name: 'Brian Otieno', password });
        assert.deepEqual(issuesOf(refused), ['password parameter_invalid']);
      }
      assert.equal((await post(ACCEPT, { token, name: 'Brian Otieno', password: PASSWORD })).status, 201);
    }
  });
});
