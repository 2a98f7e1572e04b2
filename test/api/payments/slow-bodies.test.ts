// Requests whose body is still arriving when their session or key ends or the person loses the role: they have no effect.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { requestPayout, balanceOf, fetchPayout, fund } from '../../support/payouts.ts';
import { logInAs, enter } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { hashApiKey } from '../../../src/security/api-key.ts';
import { call, collectionFields } from '../../support/api.ts';
import { rewrite } from '../../support/attestation.ts';
import { API_ONLY } from '../responses.ts';

type Sender = Pick<Browser, 'cookie'> | { readonly key: string };

describe('a request whose body arrives slowly', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let owner: Browser;
  before(async () => {
    owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    await fund(testEnv, testEnv.merchant, 50_000);
  });

  /** The response's status and code. `meanwhile` runs when the server has the headers but not yet the body. */
  async function sendSlowly(sender: Sender, path: string, json: object, meanwhile: () => Promise<unknown>) {
    const body = JSON.stringify(json);
    const headers = {
      ...('key' in sender ? { authorization: `Bearer ${sender.key}` } : { cookie: sender.cookie }),
      'malipo-console': '1',
      origin: testEnv.baseUrl,
      'idempotency-key': randomUUID(),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    };
    const sending = request(new URL(path, testEnv.baseUrl), { method: 'POST', headers });
    const outcome = new Promise<string>((resolve, reject) => {
      sending.once('error', reject).once('response', (response) => {
        response.toArray().then((chunks) => {
          const { error, data } = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as {
            error?: { code: string };
            data?: { error: { code: string } | null }[];
          };
          resolve(`${response.statusCode} ${error?.code ?? data?.[0]?.error?.code ?? 'done'}`);
        }, reject);
      });
    });
    const headersRead = once(sending, 'continue');
    sending.flushHeaders();
    await headersRead;
    // By the time that these return, the server has made all its checks that come before the body.
    for (let i = 0; i < 3; i++) await owner.call('GET', '/v1/console/session');
    await meanwhile();
    sending.end(body);
    return outcome;
  }

  it('releases nothing once its session has ended', async () => {
    const payout = await requestPayout(testEnv, '000');
    const approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    const logOut = () => approver.call('DELETE', '/v1/console/session');
    const withCookie = { ...approver };
    const outcome = await sendSlowly(withCookie, '/v1/console/payouts/release', { ids: [payout.id] }, logOut);
    assert.equal(outcome, '401 permission_denied');
    assert.equal((await fetchPayout(testEnv, payout)).state, 'queued');
  });

  it('creates no payout once its maker has lost the role, or their session has ended', async () => {
    const balance = await balanceOf(testEnv, testEnv.merchant);
    const { person, browser: maker } = await enter(testEnv, testEnv.merchant.id, ['maker']);
    const change = { json: { roles: ['viewer'] } };
    const demote = async () => {
      assert.equal((await owner.call('PATCH', `/v1/console/members/${person.id}`, change)).status, 200);
    };
    const other = await logInAs(testEnv, testEnv.merchant.id, 'maker');
    const withCookie = { ...other };
    const logOut = () => other.call('DELETE', '/v1/console/session');
    const path = '/v1/api/payouts';
    assert.equal(await sendSlowly(maker, path, collectionFields({ amount: 1000 }), demote), '403 permission_denied');
    assert.equal(
      await sendSlowly(withCookie, path, collectionFields({ amount: 1000 }), logOut),
      '401 permission_denied',
    );
    assert.deepEqual(await balanceOf(testEnv, testEnv.merchant), balance);
  });

  it('creates no payout once its key was revoked, or the key’s maker has lost the role', async () => {
    const balance = await balanceOf(testEnv, testEnv.merchant);
    const { person, browser: admin } = await enter(testEnv, testEnv.merchant.id, ['admin']);
    const other = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    const addKey = async () => {
      const { json } = await admin.call('POST', '/v1/console/keys', { json: { name: 'A', scopes: ['payouts:write'] } });
      return { id: String(json['id']), key: String(json['key']) };
    };
    const [revoked, orphaned] = [await addKey(), await addKey()];
    // Of a body that is here within a second the key is not verified again.
    const aSecondLater = (act: () => Promise<{ status: number; text: string }>) => async () => {
      const { status, text } = await act();
      assert.equal(status, 200, text);
      await setTimeout(1100);
    };
    const send = (sender: Sender, act: () => Promise<{ status: number; text: string }>) =>
      sendSlowly(sender, '/v1/api/payouts', collectionFields({ amount: 1000 }), aSecondLater(act));
    const revoke = () => admin.call('DELETE', `/v1/console/keys/${revoked.id}`);
    assert.equal(await send(revoked, revoke), '401 api_key_revoked');
    const demote = async () => {
      const change = { json: { roles: ['viewer'] } };
      const proposed = await other.call('PATCH', `/v1/console/members/${person.id}`, change);
      return owner.call('POST', `/v1/console/member-changes/${String(proposed.json['id'])}/approve`);
    };
    assert.equal(await send(orphaned, demote), '403 insufficient_scope');
    assert.deepEqual(await balanceOf(testEnv, testEnv.merchant), balance);
  });

  it('creates no payout once its cached key has expired, was revoked, or its maker has left', async () => {
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 10_000);
    const json = collectionFields({ amount: 1000 });
    const cached = async (expiresAt?: Date) => {
      const key = await testEnv.addKey(merchant.id, ['payouts:write'], expiresAt);
      for (let n = 0; n < 2; n++) {
        const { status, text } = await call(testEnv.baseUrl, 'POST', '/v1/api/payouts', { key, json });
        assert.equal(status, 202, text);
      }
      return { key };
    };
    const send = (sender: Sender, act: () => Promise<unknown>) => sendSlowly(sender, '/v1/api/payouts', json, act);
    const expiresAt = new Date(Date.now() + 6000);
    const expiring = await cached(expiresAt);
    const untilExpired = () => setTimeout(expiresAt.getTime() + 100 - Date.now());
    assert.equal(await send(expiring, untilExpired), '401 api_key_expired');
    const revoked = await cached();
    const revoke = 'UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1';
    assert.equal(
      await send(revoked, () => rewrite(testEnv.db, revoke, [hashApiKey(revoked.key)])),
      '401 api_key_revoked',
    );
    const orphaned = await cached();
    const remove = 'UPDATE members SET removed_at = now() WHERE user_id = $1';
    assert.equal(await send(orphaned, () => rewrite(testEnv.db, remove, [merchant.makerId])), '403 insufficient_scope');
    assert.deepEqual(await balanceOf(testEnv, merchant), [4000, 6000]);
  });

  it('is served like any other when nothing ends meanwhile', async () => {
    const payout = await requestPayout(testEnv, '000');
    const approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    const nothing = () => Promise.resolve();
    const outcome = await sendSlowly(approver, '/v1/console/payouts/release', { ids: [payout.id] }, nothing);
    assert.equal(outcome, '200 done');
    assert.equal((await fetchPayout(testEnv, payout)).state, 'released');
  });
});
