// The two-person rule: no single person moves money out, by any path around the rule.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SCOPES } from '../../../src/domain/accounts/api-key.ts';
import { hashApiKey } from '../../../src/security/api-key.ts';
import { PAYMENT_CHANGED } from '../../../workflows/contract.ts';
import { assertError, assertNotAuthenticated } from '../responses.ts';
import { call, collectionFields } from '../../support/api.ts';
import { temporalClient } from '../../support/engines.ts';
import { eventually, type TestMerchant } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { phoneFor } from '../../support/payments.ts';
import {
  requestPayout,
  balanceOf,
  fetchPayout,
  fund,
  release,
  transfersAccepted,
  untilPayoutState,
  type Payout,
} from '../../support/payouts.ts';
import { addPerson, codeOf, logInAs, logIn, enter, ageSecondFactor } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { valuesOf } from '../../support/values-of.ts';
import { tamper } from '../../db/rows.ts';
import { attestAll, rewrite } from '../../support/attestation.ts';

describe('the two-person rule', () => {
  const testEnv = useTestEnvironment();
  let merchant: TestMerchant;
  before(async () => {
    merchant = testEnv.merchant;
    await fund(testEnv, merchant, 1_000_000);
  });

  async function createPayout(browser: Browser): Promise<string> {
    const json = collectionFields({ phone: phoneFor('000') });
    const response = await browser.call('POST', '/v1/api/payouts', { json, idempotencyKey: randomUUID() });
    assert.equal(response.status, 202, response.text);
    return String(response.json['id']);
  }

  async function assertStillQueued(payout: Payout): Promise<void> {
    assert.equal((await fetchPayout(testEnv, payout)).state, 'queued');
    assert.equal(await transfersAccepted(testEnv, payout), 0);
  }

  it('holds money when a payout is created, and moves it when another person releases it', async () => {
    const own = await testEnv.addMerchant();
    await fund(testEnv, own, 20_000);
    const payout = await requestPayout(testEnv, '000', { merchant: own, amount: 7000 });
    assert.deepEqual(await balanceOf(testEnv, own), [13_000, 7000]);
    const approver = await logInAs(testEnv, own.id, 'approver');
    const { json } = await release(approver, payout);
    assert.deepEqual([json['state'], json['approval_state']], ['released', 'approved']);
    await untilPayoutState(testEnv, payout, 'succeeded');
    assert.deepEqual(await balanceOf(testEnv, own), [13_000, 0]);
    assert.equal(await transfersAccepted(testEnv, payout), 1);
  });

  it('refuses a release by the person who created the payout in a session, even as an approver', async () => {
    const both = await logInAs(testEnv, merchant.id, 'maker', 'approver');
    const id = await createPayout(both);
    assertError(await release(both, { id }), 'approval_self');
  });

  it('refuses a release by an owner who created the payout', async () => {
    const owner = await logInAs(testEnv, merchant.id, 'owner');
    assertError(await release(owner, { id: await createPayout(owner) }), 'approval_self');
  });

  it('refuses a release by the person who created the API key that created the payout', async () => {
    const person = await addPerson(testEnv, merchant.id, ['maker', 'approver']);
    // Whose key it is can never change, so this goes past the database's own rule.
    const createKeyAs = async (userId: string) => {
      await tamper(testEnv.db, 'UPDATE api_keys SET created_by = $2 WHERE key_sha256 = $1', [
        hashApiKey(merchant.key),
        userId,
      ]);
      await attestAll(testEnv.db);
    };
    await createKeyAs(person.id);
    const payout = await requestPayout(testEnv, '000');
    await createKeyAs(merchant.makerId);
    assertError(await release(await logIn(testEnv, person), payout), 'approval_self');
    await assertStillQueued(payout);
  });

  for (const role of ['maker', 'viewer', 'developer', 'admin'] as const) {
    it(`refuses a release in the role ${role}`, async () => {
      const payout = await requestPayout(testEnv, '000');
      assertError(await release(await logInAs(testEnv, merchant.id, role), payout), 'permission_denied');
      await assertStillQueued(payout);
    });
  }

  it('refuses a release with an API key, whatever its scopes', async () => {
    const payout = await requestPayout(testEnv, '000');
    const key = await testEnv.addKey(merchant.id, SCOPES);
    const response = await fetch(`${testEnv.baseUrl}/v1/console/payouts/${payout.id}/release`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() },
    });
    assert.equal(response.status, 401);
    await assertStillQueued(payout);
  });

  it('refuses a release by an approver who was removed, in a session opened before that', async () => {
    const payout = await requestPayout(testEnv, '000');
    const { person, browser } = await enter(testEnv, merchant.id, ['approver']);
    const admin = await logInAs(testEnv, merchant.id, 'admin', 'approver');
    assert.equal((await admin.call('DELETE', `/v1/console/members/${person.id}`)).status, 204);
    assertNotAuthenticated(await release(browser, payout));
    await assertStillQueued(payout);
  });

  it('refuses a payout with a key whose creator lost the role that makes payouts', async () => {
    const own = await testEnv.addMerchant();
    await fund(testEnv, own, 20_000);
    await rewrite(testEnv.db, `UPDATE members SET roles = '{viewer}' WHERE user_id = $1`, [own.makerId]);
    const refused = await call(testEnv.baseUrl, 'POST', '/v1/api/payouts', { key: own.key, json: collectionFields() });
    assertError(refused, 'insufficient_scope');
    assert.deepEqual(await balanceOf(testEnv, own), [20_000, 0]);
  });

  it('returns payout_not_found for another merchant’s payout', async () => {
    const payout = await requestPayout(testEnv, '000');
    const stranger = await logInAs(testEnv, (await testEnv.addMerchant()).id, 'owner');
    assertError(await release(stranger, payout), 'payout_not_found');
    await assertStillQueued(payout);
  });

  it('ignores signals that somebody sends to the workflow manually', async () => {
    const payout = await requestPayout(testEnv, '000');
    const handle = (await temporalClient()).workflow.getHandle(payout.workflowId);
    await eventually('the workflow to wait', async () => {
      const description = await handle.describe().catch(() => null);
      return description?.status.name === 'RUNNING';
    });
    for (const signal of [PAYMENT_CHANGED, 'operatorCalledBack', 'release']) await handle.signal(signal, {});
    await sleep(1500);
    await assertStillQueued(payout);
    assert.deepEqual((await handle.describe()).status.name, 'RUNNING');
    await release(await logInAs(testEnv, merchant.id, 'approver'), payout);
    await untilPayoutState(testEnv, payout, 'succeeded');
  });

  it('returns the same bytes for a repeated release, and sends the payout once', async () => {
    const payout = await requestPayout(testEnv, '000');
    const approver = await logInAs(testEnv, merchant.id, 'approver');
    const idempotencyKey = randomUUID();
    const path = `/v1/console/payouts/${payout.id}/release`;
    const first = await approver.call('POST', path, { idempotencyKey });
    await untilPayoutState(testEnv, payout, 'succeeded');
    const second = await approver.call('POST', path, { idempotencyKey });
    assert.deepEqual([second.status, second.text], [200, first.text]);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assertError(await release(approver, payout), 'state_conflict');
    const other = await logInAs(testEnv, merchant.id, 'approver');
    assertError(await other.call('POST', path, { idempotencyKey }), 'idempotency_key_reused');
    assert.equal(await transfersAccepted(testEnv, payout), 1);
  });

  it('lets one of two concurrent approvers release, and sends the payout once', async () => {
    const payout = await requestPayout(testEnv, '000');
    const approvers = await Promise.all([1, 2].map(() => logInAs(testEnv, merchant.id, 'approver')));
    const responses = await Promise.all(approvers.map((approver) => release(approver, payout)));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 409]);
    await untilPayoutState(testEnv, payout, 'succeeded');
    assert.equal(await transfersAccepted(testEnv, payout), 1);
  });

  it('requires a fresh second factor of an approver who has one', async () => {
    const payout = await requestPayout(testEnv, '000');
    const { person, browser } = await enter(testEnv, merchant.id, ['approver'], { hasSecondFactor: true });
    await ageSecondFactor(testEnv, person, '6 minutes');
    assertError(await release(browser, payout), 'permission_denied');
    const many = { json: { ids: [(await requestPayout(testEnv, '000')).id] }, idempotencyKey: randomUUID() };
    const releaseMany = () => browser.call('POST', '/v1/console/payouts/release', many);
    assertError(await releaseMany(), 'permission_denied');
    const totp = codeOf(person.totpSecret, 1);
    const stepped = await browser.call('POST', '/v1/console/session/step-up', { json: { totp } });
    assert.ok(stepped.status < 300, stepped.text);
    assert.equal((await release(browser, payout)).status, 200);
    const released = await releaseMany();
    assert.match(released.text, /"state":"released"/, 'the refusal was not stored under the key');
  });

  it('records the creation, each refusal and the release in the audit log', async () => {
    const both = await logInAs(testEnv, merchant.id, 'maker', 'approver');
    const id = await createPayout(both);
    await release(both, { id });
    const approver = await logInAs(testEnv, merchant.id, 'approver');
    await release(approver, { id });
    const { rows } = await testEnv.db.pool.query<{ entry: string; after: Record<string, unknown> }>(
      `SELECT outcome || ' ' || action AS entry, after FROM audit_entries WHERE subject_id = $1 ORDER BY id`,
      [id],
    );
    const { amount, currency, reference, state } = (
      await testEnv.db.pool.query(
        `SELECT amount_minor::int AS amount, currency, reference, 'queued' AS state FROM payments WHERE id = $1`,
        [id],
      )
    ).rows[0] as Record<string, unknown>;
    assert.deepEqual(rows[0]?.after, { state, amount, currency, reference, approvals_required: 1 });
    assert.deepEqual(valuesOf(rows, 'entry'), [
      'done payout.created',
      'refused POST /v1/console/payouts/:id/release',
      'done payout.released',
    ]);
  });

  it('refuses a release without a session', async () => {
    const payout = await requestPayout(testEnv, '000');
    const response = await fetch(`${testEnv.baseUrl}/v1/console/payouts/${payout.id}/release`, { method: 'POST' });
    assert.equal(response.status, 401);
    await assertStillQueued(payout);
  });
});
