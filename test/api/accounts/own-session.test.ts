// A session tells a front-end beforehand: factors, enrolment, freshness of the verification, and waiting proposals.
import assert from 'node:assert/strict';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, codeOf, logIn, logInAs, PASSWORD, enter, ageSecondFactor } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { openApiOf } from '../../support/openapi-check.ts';
import { fund, release, requestPayout } from '../../support/payouts.ts';
import { operationsOf, type OpenApiDocument } from '../openapi-structure.ts';
import { API_ONLY } from '../responses.ts';
import { rewrite } from '../../support/attestation.ts';

const SESSION = '/v1/console/session';
const FRESH_FOR_MS = 300_000;

describe('the person’s own session', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const look = async (browser: Browser) => (await browser.call('GET', SESSION)).json;
  const freshForMs = (
    { fresh_until: until, ...shown }: Record<string, unknown>,
    since: 'created_at' | 'second_factor_at',
  ) => Date.parse(String(until)) - Date.parse(String(shown[since]));

  it('says whether its person must enrol a second factor, and which ones they have', async () => {
    const cases = [
      { role: 'viewer', hasSecondFactor: false, mustEnrol: false },
      { role: 'approver', hasSecondFactor: false, mustEnrol: true },
      { role: 'approver', hasSecondFactor: true, mustEnrol: false },
    ] as const;
    for (const { role, hasSecondFactor, mustEnrol } of cases) {
      const person = await addPerson(testEnv, testEnv.merchant.id, [role], { hasSecondFactor });
      const shown = await look(await logIn(testEnv, person));
      assert.equal((shown['factors'] as { totp: boolean }).totp, hasSecondFactor);
      assert.deepEqual([shown['must_enrol'], shown['has_second_factor']], [mustEnrol, hasSecondFactor], role);
    }
  });

  it('is used by requests of its person, and not by background requests of a page', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    const isUsedBy = async (method: string, path: string, headers: Record<string, string> = {}) => {
      await rewrite(testEnv.db, `UPDATE sessions SET last_used_at = now() - interval '1 hour' WHERE user_id = $1`, [
        person.id,
      ]);
      const { status, text } = await browser.call(method, path, { headers });
      assert.ok(status < 400, text);
      const { rows } = await testEnv.db.pool.query<{ used: boolean }>(
        `SELECT last_used_at > now() - interval '50 minutes' AS used FROM sessions WHERE user_id = $1`,
        [person.id],
      );
      return rows[0]!.used;
    };
    const background = { 'Malipo-Background': '1' };
    assert.equal(await isUsedBy('GET', SESSION), true);
    assert.equal(await isUsedBy('GET', SESSION, background), false);
    assert.equal(await isUsedBy('GET', '/v1/api/balance', background), false);
    assert.equal(await isUsedBy('GET', '/v1/console/stream'), false, 'a browser opens it again by itself');
    assert.equal(
      await isUsedBy('DELETE', '/v1/console/sessions', background),
      true,
      'nothing changes anything by itself',
    );
    // A page that is left open keeps polling, and its session ends nevertheless.
    await rewrite(testEnv.db, `UPDATE sessions SET last_used_at = now() - interval '13 hours' WHERE user_id = $1`, [
      person.id,
    ]);
    assert.equal((await browser.call('GET', SESSION, { headers: background })).status, 401);
  });

  it('says until when the verification is fresh: five minutes after it', async () => {
    const viewer = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    assert.equal(freshForMs(await look(await logIn(testEnv, viewer)), 'created_at'), FRESH_FOR_MS);
    const { person: approver, browser } = await enter(testEnv, testEnv.merchant.id, ['approver']);
    await ageSecondFactor(testEnv, approver, '1 hour');
    assert.equal(freshForMs(await look(browser), 'second_factor_at'), FRESH_FOR_MS);
    const renewed = await browser.call('POST', `${SESSION}/step-up`, {
      json: { totp: codeOf(approver.totpSecret, 1) },
    });
    assert.equal(freshForMs(renewed.json, 'second_factor_at'), FRESH_FOR_MS);
    assert.ok(Date.parse(String(renewed.json['fresh_until'])) > Date.now());
  });

  it('shows no verification to a person who must still enrol', async () => {
    const { browser } = await enter(testEnv, testEnv.merchant.id, ['maker'], { hasSecondFactor: false });
    assert.equal((await look(browser))['fresh_until'], null);
    await browser.call('POST', `${SESSION}/step-up`, { json: { password: PASSWORD } });
    assert.equal((await look(browser))['fresh_until'], null);
  });

  it('says when its person may move money, if the policy makes new approvers wait', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const [maker, approver] = [
      await logInAs(testEnv, merchantId, 'maker'),
      await logInAs(testEnv, merchantId, 'approver'),
    ];
    assert.equal((await look(approver))['moves_money_from'], null, 'nobody waits in the test environment');
    const { rows } = await rewrite<{ from: Date }>(
      testEnv.db,
      `WITH policy AS (INSERT INTO policies (merchant_id, approver_wait_ms, updated_at) VALUES ($1, 3600000, now()))
       SELECT approver_since + interval '1 hour' AS from FROM members WHERE merchant_id = $1 AND approver_since IS NOT NULL`,
      [merchantId],
    );
    const shown = await look(approver);
    assert.deepEqual([shown['moves_money_from'], shown['needs_second_owner']], [rows[0]!.from.toISOString(), false]);
    assert.equal((await look(maker))['moves_money_from'], null);
  });

  it('names the operations that need a step-up: those that the document marks, a switch, and passkeys beside another factor', async () => {
    const document = (await openApiOf(testEnv.baseUrl)) as unknown as OpenApiDocument;
    const marked = operationsOf(document).filter(({ operation }) => operation['x-step-up'] === true);
    const always = [...marked.map(({ operation }) => operation.operationId), 'switchMerchant'].sort();
    const named = async (role: 'viewer' | 'maker') =>
      ((await look(await logInAs(testEnv, testEnv.merchant.id, role)))['needs_step_up'] as string[]).sort();
    assert.deepEqual(await named('viewer'), always);
    assert.deepEqual(await named('maker'), [...always, 'registerPasskey', 'startPasskey'].sort());
    assert.ok(always.includes('changePassword') && !always.includes('stepUp'));
  });

  it('counts the payouts that wait for its person, and none that they made or approved', async () => {
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 50_000);
    await rewrite(
      testEnv.db,
      'INSERT INTO policies (merchant_id, two_approvers_above_minor, updated_at) VALUES ($1, 1, now())',
      [merchant.id],
    );
    const waiting = async (browser: Browser) => ((await look(browser))['waits_for_you'] as { payouts: number }).payouts;
    const [one, other, maker] = [
      await logInAs(testEnv, merchant.id, 'approver'),
      await logInAs(testEnv, merchant.id, 'owner'),
      await logInAs(testEnv, merchant.id, 'maker'),
    ];
    const payouts = [
      await requestPayout(testEnv, '000', { merchant, amount: 1000 }),
      await requestPayout(testEnv, '000', { merchant, amount: 1000 }),
    ];
    assert.deepEqual([await waiting(one), await waiting(other), await waiting(maker)], [2, 2, 0]);
    assert.equal((await release(one, payouts[0]!)).json['state'], 'queued', 'it needs two');
    assert.deepEqual([await waiting(one), await waiting(other)], [1, 2]);
    assert.equal((await release(other, payouts[0]!)).json['state'], 'released');
    assert.deepEqual([await waiting(one), await waiting(other)], [1, 1]);
  });
});
