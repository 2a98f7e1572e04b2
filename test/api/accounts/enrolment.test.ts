// The second factor that some roles require: until it is enrolled, a session leads to its enrolment and nowhere else.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import { requiresSecondFactor, ROLES } from '../../../src/domain/accounts/member.ts';
import { collectionFields } from '../../support/api.ts';
import { openApiOf } from '../../support/openapi-check.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, codeOf, enrolSecondFactor, logIn, logInAs, PASSWORD, enter } from '../../support/people.ts';
import { openBrowser } from '../../support/browser.ts';
import { operationsOf, type OpenApiDocument } from '../openapi-structure.ts';
import { API_ONLY, assertError, assertNotAuthenticated, assertDenied } from '../responses.ts';

const SESSION = '/v1/console/session';
const FACTOR = `${SESSION}/second-factor`;
const WITHOUT = { hasSecondFactor: false };
const NOT_ENROLLED = { after: { reason: 'must still enrol a second factor' } };

describe('a role that requires a second factor', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let routes: { method: string; path: string }[];

  before(async () => {
    const document = (await openApiOf(testEnv.baseUrl)) as unknown as OpenApiDocument;
    routes = operationsOf(document)
      .filter(({ operation }) => JSON.stringify(operation.security ?? document.security).includes('consoleSession'))
      .filter(({ path }) => path !== SESSION && !path.startsWith(`${SESSION}/`))
      .map(({ method, path }) => ({ method, path: path.replace('{id}', newId('pay')) }));
    assert.ok(routes.length > 40, `${routes.length}`);
  });

  for (const role of ROLES.filter((each) => requiresSecondFactor([each]))) {
    it(`lets ${role}s without one enrol, and nothing else`, async () => {
      const browser = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, [role], WITHOUT));
      for (const { method, path } of routes) {
        const response = await browser.call(method, path, { json: method === 'GET' ? undefined : {} });
        await assertDenied(testEnv, response, NOT_ENROLLED);
      }
      assert.equal((await browser.call('GET', SESSION)).status, 200);
      await enrolSecondFactor(browser);
      assert.equal((await browser.call('GET', '/v1/api/balance')).status, 200);
      assert.equal((await browser.call('GET', '/v1/console/members')).status, 200);
    });
  }

  it('is required of neither developer nor viewer', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'developer', 'viewer');
    assert.equal((await browser.call('GET', SESSION)).json['has_second_factor'], false);
    assert.equal((await browser.call('GET', '/v1/api/balance')).status, 200);
  });

  it('counts from the request after it was granted', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const owner = await logInAs(testEnv, merchantId, 'owner');
    const { person, browser } = await enter(testEnv, merchantId, ['viewer']);
    assert.equal((await browser.call('GET', '/v1/api/balance')).status, 200);
    await owner.call('PATCH', `/v1/console/members/${person.id}`, { json: { roles: ['maker'] } });
    const refused = await browser.call('POST', '/v1/api/collections', { json: collectionFields() });
    await assertDenied(testEnv, refused, NOT_ENROLLED);
    await enrolSecondFactor(browser);
    assert.equal((await browser.call('POST', '/v1/api/collections', { json: collectionFields() })).status, 202);
  });

  it('ends every session of the password alone when its person enrols in another one', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['maker'], WITHOUT);
    const [own, another] = [await logIn(testEnv, person), await logIn(testEnv, person)];
    await enrolSecondFactor(own);
    assertNotAuthenticated(await another.call('GET', '/v1/api/balance'));
    assertNotAuthenticated(await another.call('POST', '/v1/api/collections', { json: collectionFields() }));
    assert.equal((await own.call('POST', '/v1/api/collections', { json: collectionFields() })).status, 202);
  });

  it('applies only at the merchant where it is held', async () => {
    const other = await testEnv.addMerchant();
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    await addPerson(testEnv, other.id, ['approver'], { ...WITHOUT, email: person.email });
    const [reading, approving] = [
      await logIn(testEnv, person),
      await logIn(testEnv, { ...person, merchantId: other.id }),
    ];
    assert.equal((await reading.call('GET', '/v1/api/balance')).status, 200);
    assertError(await approving.call('GET', '/v1/api/balance'), 'permission_denied');
  });

  it('leads a person who accepts such an invitation to enrolment', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const owner = await logInAs(testEnv, merchantId, 'owner');
    const email = `${newId('usr').slice(-12)}@shop.example`;
    const invitation = await owner.call('POST', '/v1/console/invitations', { json: { email, roles: ['approver'] } });
    const accepted = { token: invitation.json['token'], name: 'Brian', password: PASSWORD };
    const browser = openBrowser(testEnv.baseUrl);
    assert.equal((await browser.call('POST', '/v1/console/invitations/accept', { json: accepted })).status, 201);
    assert.equal((await browser.call('POST', SESSION, { json: { email, password: PASSWORD } })).status, 201);
    assertError(await browser.call('GET', '/v1/console/members'), 'permission_denied');
    await enrolSecondFactor(browser);
    assert.equal((await browser.call('GET', '/v1/console/members')).status, 200);
  });

  it('keeps the last second factor, even if it is held at another merchant', async () => {
    const other = await testEnv.addMerchant();
    const approver = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    const elsewhere = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    await addPerson(testEnv, other.id, ['approver'], { email: elsewhere.email });
    for (const person of [approver, elsewhere]) {
      const browser = await logIn(testEnv, person);
      const fields = { password: PASSWORD, totp: codeOf(person.totpSecret, 1) };
      assertError(await browser.call('POST', `${FACTOR}/remove`, { json: fields }), 'state_conflict');
      assert.equal((await browser.call('GET', SESSION)).json['has_second_factor'], true);
    }
  });
});
