// Acts that need a step-up: they are refused without a verification within five minutes, by the second factor if any.
import assert from 'node:assert/strict';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { codeOf, logIn, PASSWORD, type TestPerson, enter } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { openApiOf } from '../../support/openapi-check.ts';
import { operationsOf, type OpenApiDocument } from '../openapi-structure.ts';
import { API_ONLY, assertError, assertDenied } from '../responses.ts';
import { rewrite } from '../../support/attestation.ts';

const SESSION = '/v1/console/session';
const NEW_PASSWORD = 'another horse, another battery';
const STEP_UP_FIRST = { after: { reason: 'needs a step-up first' } };

/** A new act in the console needs a step-up, or a line here that says why not. */
const WITHOUT_STEP_UP: Readonly<Record<string, string>> = {
  logIn: 'is itself a proof',
  stepUp: 'is itself a proof',
  recoverAccount: 'nobody is logged in, and the token is the proof',
  acceptInvitation: 'nobody is logged in, and tokens and password are the proof',
  startSecondFactor: 'asks for the password',
  confirmSecondFactor: 'asks for a code',
  removeSecondFactor: 'asks for password and code',
  startPasskey: 'asks for the password and for a fresh verification, also of people who must still enrol',
  registerPasskey: 'asks for the password and for a fresh verification, also of people who must still enrol',
  switchMerchant: 'asks for a fresh verification, also of people who must still enrol',
  namePasskey: 'a name opens nothing',
  startPasskeyLogIn: 'nobody is logged in, and it opens nothing',
  startPasskeyStepUp: 'opens nothing: what answers it is a proof',
  logOut: 'protects: it ends access',
  endSession: 'protects: it ends access',
  endOtherSessions: 'protects: it ends access',
  revokeApiKey: 'protects: it ends access',
  deleteEndpoint: 'protects: nothing more is sent there',
  checkPayouts: 'makes nothing',
  rejectPayout: 'protects: the money comes back',
  cancelPayout: 'protects: the money comes back',
  rejectReversal: 'protects: the money stays here',
  cancelReversal: 'protects: the money stays here',
  rejectInvitation: 'protects: nobody gets in',
  withdrawInvitation: 'protects: nobody gets in',
  rejectMemberChange: 'protects: all stays as it is',
  withdrawMemberChange: 'protects: all stays as it is',
  rejectPolicyChange: 'protects: all stays as it is',
  withdrawPolicyChange: 'protects: all stays as it is',
  replayDelivery: 'sends again what the endpoint was owed already',
  createReplay: 'sends again what the endpoint was owed already',
  createCheckout: 'takes money in for the merchant: nothing leaves',
  cancelCheckout: 'protects: nobody pays there any more',
  testEndpoint: 'sends an event without content',
};

describe('an act that needs a step-up', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const age = (person: TestPerson, column: 'verified_at' | 'second_factor_at', seconds: number) =>
    rewrite(testEnv.db, `UPDATE sessions SET ${column} = ${column} - make_interval(secs => $2) WHERE user_id = $1`, [
      person.id,
      seconds,
    ]);
  const act = (browser: Browser) =>
    browser.call('POST', `${SESSION}/password`, { json: { current_password: PASSWORD, new_password: NEW_PASSWORD } });
  const stepUp = async (browser: Browser, json: object) => {
    const response = await browser.call('POST', `${SESSION}/step-up`, { json });
    assert.equal(response.status, 200, response.text);
  };

  it('counts the log-in as a verification, for five minutes', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    await age(person, 'verified_at', 300);
    const refused = await act(browser);
    await assertDenied(testEnv, refused, { ...STEP_UP_FIRST, action: `POST ${SESSION}/password` });
    assert.equal((await act(await logIn(testEnv, person))).status, 200);
  });

  it('is done after the password of a person without a second factor', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['developer']);
    await age(person, 'verified_at', 3600);
    assertError(await act(browser), 'permission_denied');
    await stepUp(browser, { password: PASSWORD });
    assert.equal((await act(browser)).status, 200);
  });

  it('requires the second factor of a person who has one, and nothing less', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    await age(person, 'second_factor_at', 3600);
    const refused = await act(browser);
    await assertDenied(testEnv, refused, STEP_UP_FIRST);
    await stepUp(browser, { totp: codeOf(person.totpSecret, 1) });
    assert.equal((await act(browser)).status, 200);
  });

  it('is needed for every act in the console except protective ones, and those that verify the person themselves', async () => {
    const document = (await openApiOf(testEnv.baseUrl)) as unknown as OpenApiDocument;
    const acts = operationsOf(document).filter(
      ({ method, path }) => path.startsWith('/v1/console/') && method !== 'GET',
    );
    const without = acts.filter(({ operation }) => operation['x-step-up'] !== true);
    assert.deepEqual(without.map(({ operation }) => operation.operationId).sort(), Object.keys(WITHOUT_STEP_UP).sort());
    assert.ok(acts.length - without.length >= 15, `${acts.length}`);
  });

  it('is marked in the document', async () => {
    const document = (await openApiOf(testEnv.baseUrl)) as unknown as OpenApiDocument;
    const marked = operationsOf(document).filter(({ operation }) => operation['x-step-up'] === true);
    assert.ok(marked.some(({ operation }) => operation.operationId === 'changePassword'));
    for (const { operation } of marked) {
      assert.match(
        (operation as { description?: string }).description ?? '',
        /within five minutes of a log-in or step-up/,
      );
    }
  });
});
