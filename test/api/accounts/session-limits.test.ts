// The shorter sessions of people whose roles require a second factor.
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import assert from 'node:assert/strict';
import { logIn, enter } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { API_ONLY, assertNotAuthenticated } from '../responses.ts';
import { rewrite } from '../../support/attestation.ts';

describe('a session', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const age = (column: string, interval: string) =>
    rewrite(testEnv.db, `UPDATE sessions SET ${column} = ${column} - interval '${interval}'`);
  const look = (browser: Browser) => browser.call('GET', '/v1/console/session');

  for (const role of ['owner', 'admin', 'maker', 'approver'] as const) {
    it(`of somebody in the role ${role} ends after thirty minutes without use, and after twelve hours in any case`, async () => {
      const { person, browser } = await enter(testEnv, testEnv.merchant.id, [role]);
      await age('last_used_at', '29 minutes 50 seconds');
      assert.equal((await look(browser)).status, 200);
      await age('last_used_at', '30 minutes 1 second');
      assertNotAuthenticated(await look(browser));
      const another = await logIn(testEnv, person);
      await age('created_at', '12 hours 1 second');
      assertNotAuthenticated(await look(another));
    });
  }

  it('ends when its person is no longer a member, although nobody ended it', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    assert.equal((await look(browser)).status, 200);
    await rewrite(testEnv.db, 'UPDATE members SET removed_at = now() WHERE user_id = $1', [person.id]);
    assertNotAuthenticated(await look(browser));
  });

  it('has the shorter limits from the request after its person got such a role', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    await age('last_used_at', '31 minutes');
    assert.equal((await look(browser)).status, 200);
    await age('last_used_at', '31 minutes');
    await rewrite(testEnv.db, `UPDATE members SET roles = '{viewer,maker}' WHERE user_id = $1`, [person.id]);
    assertNotAuthenticated(await look(browser));
  });
});
