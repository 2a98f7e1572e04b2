// Acts that need a step-up: they are refused without a verification within five minutes, by the second factor where there is one.
import assert from 'node:assert/strict';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import {
  addPerson,
  assertAudited,
  codeOf,
  logIn,
  PASSWORD,
  type Browser,
  type TestPerson,
} from '../../support/people.ts';
import { openApiOf } from '../../support/openapi-check.ts';
import { operationsOf, type OpenApiDocument } from '../openapi-structure.ts';
import { API_ONLY, assertError } from '../responses.ts';

const SESSION = '/v1/console/session';
const NEW_PASSWORD = 'another horse, another battery';
const REFUSED = { outcome: 'refused', after: { reason: 'needs a step-up first' } };

describe('an act that needs a step-up', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const age = (person: TestPerson, column: 'verified_at' | 'second_factor_at', seconds: number) =>
    testEnv.db.pool.query(`UPDATE sessions SET ${column} = ${column} - make_interval(secs => $2) WHERE user_id = $1`, [
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
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const browser = await logIn(testEnv, person);
    await age(person, 'verified_at', 300);
    const refused = await act(browser);
    assertError(refused, 'permission_denied');
    await assertAudited(testEnv, refused, { ...REFUSED, action: `POST ${SESSION}/password` });
    assert.equal((await act(await logIn(testEnv, person))).status, 200);
  });

  it('is done after the password of a person without a second factor', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['developer']);
    const browser = await logIn(testEnv, person);
    await age(person, 'verified_at', 3600);
    assertError(await act(browser), 'permission_denied');
    await stepUp(browser, { password: PASSWORD });
    assert.equal((await act(browser)).status, 200);
  });

  it('is done after the second factor of a person who has one, and not after anything else', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const browser = await logIn(testEnv, person);
    await age(person, 'second_factor_at', 3600);
    const refused = await act(browser);
    assertError(refused, 'permission_denied');
    await assertAudited(testEnv, refused, REFUSED);
    await stepUp(browser, { totp: codeOf(person.totpSecret, 1) });
    assert.equal((await act(browser)).status, 200);
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
