// The limit of failed guesses in the memory of a process: what counts, and that the database cannot reset it.
import assert from 'node:assert/strict';
import { createGuessLimit, MAX_FAILURES_PER_PERSON } from '../../src/api/guess-limit.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { newId } from '../../src/domain/ids.ts';
import { addPerson, codeOf, logIn, PASSWORD } from '../support/people.ts';
import { openBrowser } from '../support/browser.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY, assertError, assertNotAuthenticated } from './responses.ts';

const SESSION = '/v1/console/session';

describe('guesses at a person’s password and second factor', () => {
  const person = newId('usr');
  const wrong = () => Promise.reject(new DomainError('permission_denied', 'wrong'));
  const right = () => Promise.resolve('right');
  const isRefusal = (code: string) => (error: unknown) => error instanceof DomainError && error.code === code;

  it('count when they fail, also all at once, and then nothing is tried any more', async () => {
    const limit = createGuessLimit();
    let tried = 0;
    const guess = () => {
      tried += 1;
      return wrong();
    };
    const many = Array.from({ length: MAX_FAILURES_PER_PERSON + 50 }, () => limit(person, guess));
    await Promise.allSettled(many);
    assert.equal(tried, MAX_FAILURES_PER_PERSON);
    await assert.rejects(limit(person, right), isRefusal('rate_limited'));
    assert.equal(await limit(newId('usr'), right), 'right', 'another person');
  });

  it('do not count if they succeed, if another limit refused them, or without a person', async () => {
    const limit = createGuessLimit();
    const refused = () => Promise.reject(new DomainError('rate_limited', 'another limit'));
    for (let n = 0; n < MAX_FAILURES_PER_PERSON; n++) {
      await limit(person, right);
      await assert.rejects(limit(person, refused), isRefusal('rate_limited'));
      await assert.rejects(limit(null, wrong), isRefusal('permission_denied'));
    }
    await assert.rejects(limit(null, wrong), isRefusal('permission_denied'));
    assert.equal(await limit(person, right), 'right');
  });
});

describe('an attacker who deletes the counts in the database', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const forget = () => testEnv.db.pool.query('DELETE FROM attempt_counters');

  it('guesses no more codes and passwords of a person than one process allows in a day', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
    const thief = await logIn(testEnv, person);
    const stranger = openBrowser(testEnv.baseUrl);
    const LOG_INS = 5;
    for (let n = 0; n < LOG_INS; n++) {
      const json = { email: person.email, password: 'wrong' };
      assertNotAuthenticated(await stranger.call('POST', SESSION, { json }));
    }
    for (let n = LOG_INS; n < MAX_FAILURES_PER_PERSON; n++) {
      await forget();
      const refused = await thief.call('POST', `${SESSION}/step-up`, { json: { totp: '000000' } });
      assertError(refused, 'permission_denied');
    }
    await forget();
    const totp = codeOf(person.totpSecret, 1);
    const refused = await thief.call('POST', `${SESSION}/step-up`, { json: { totp } });
    assertError(refused, 'rate_limited');
    assert.ok(Number(refused.headers.get('retry-after')) > 3600);
    const json = { email: person.email, password: PASSWORD, totp };
    assertError(await stranger.call('POST', SESSION, { json }), 'rate_limited');
    const other = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
    await forget();
    assert.notEqual((await logIn(testEnv, other)).cookie, '');
  });
});
