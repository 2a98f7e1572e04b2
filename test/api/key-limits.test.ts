// Limits of API keys: how many an address may get wrong, from where one works, and how much its unreleased payouts hold.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { call, collectionFields } from '../support/api.ts';
import { balanceOf, fund } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import type { Browser } from '../support/browser.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY, assertError, issuesOf, startAnotherServer } from './responses.ts';

const PATH = '/v1/api/balance';
const KEYS = '/v1/console/keys';
const PAYOUTS = '/v1/api/payouts';
const WRONG_KEY = `sk_test_${'a'.repeat(36)}`;

describe('an API key', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  const get = (baseUrl: string, key: string, headers: Record<string, string> = {}) =>
    call(baseUrl, 'GET', PATH, { key, headers });

  it('that is refused counts for its address on all servers, until there are too many', async () => {
    const settings = { MALIPO_REFUSED_KEYS_PER_ADDRESS: '6', MALIPO_TRUSTED_PROXIES: '1' };
    const one = await startAnotherServer(testEnv, settings);
    const another = await startAnotherServer(testEnv, settings);
    const here = { 'x-forwarded-for': '203.0.113.7' };
    const revoked = await testEnv.addKey(testEnv.merchant.id, ['balance:read'], new Date(Date.now() - 1000));
    for (const { baseUrl } of [one, another]) {
      assertError(await get(baseUrl, 'nonsense', here), 'api_key_invalid');
      assertError(await get(baseUrl, WRONG_KEY, here), 'api_key_invalid');
      assertError(await get(baseUrl, revoked, here), 'api_key_expired');
    }
    for (const { baseUrl } of [one, another, one]) {
      for (const key of ['nonsense', WRONG_KEY, revoked]) {
        const refused = await get(baseUrl, key, here);
        assertError(refused, 'rate_limited');
        const seconds = Number(refused.headers.get('retry-after'));
        assert.ok(seconds > 800 && seconds <= 900, `${seconds}`);
      }
    }
    assert.equal((await get(one.baseUrl, testEnv.merchant.key, here)).status, 200, 'a good key still works');
    assertError(await get(one.baseUrl, WRONG_KEY, { 'x-forwarded-for': '203.0.113.8' }), 'api_key_invalid');
    const { rows } = await testEnv.db.pool.query<{ failures: number }>(
      "SELECT failures FROM attempt_counters WHERE subject = 'refused_key/203.0.113.7'",
    );
    assert.deepEqual(rows, [{ failures: 6 }]);
  });

  it('that is good is counted nowhere in the database', async () => {
    const settings = { MALIPO_REFUSED_KEYS_PER_ADDRESS: '6' };
    const { baseUrl } = await startAnotherServer(testEnv, settings);
    for (let n = 0; n < 3; n++) assert.equal((await get(baseUrl, testEnv.merchant.key)).status, 200);
    assert.deepEqual((await testEnv.db.pool.query('SELECT subject FROM attempt_counters')).rows, []);
  });

  const refusalsOf = async (id: unknown) =>
    (
      await testEnv.db.pool.query<{ action: string; reason: string; address: string | null }>(
        `SELECT action, after->>'reason' AS reason, host(address) AS address FROM audit_entries
         WHERE api_key_id = $1 AND outcome = 'refused' ORDER BY id`,
        [id],
      )
    ).rows;

  describe('that is for certain addresses', () => {
    let admin: Browser;
    let baseUrl: string;
    before(async () => {
      admin = await logInAs(testEnv, testEnv.merchant.id, 'admin');
      const settings = { MALIPO_TRUSTED_PROXIES: '1', MALIPO_REFUSED_KEYS_PER_ADDRESS: '3' };
      ({ baseUrl } = await startAnotherServer(testEnv, settings));
    });

    const create = (addresses: unknown) =>
      admin.call('POST', KEYS, { json: { name: 'Shop', scopes: ['balance:read'], allowed_addresses: addresses } });
    const created = async (addresses: readonly string[]) => {
      const { json, status, text } = await create(addresses);
      assert.equal(status, 201, text);
      return { id: String(json['id']), key: String(json['key']), shown: json['allowed_addresses'] };
    };
    const from = (address: string, key: string) => get(baseUrl, key, { 'x-forwarded-for': address });

    it('works from these, however they are written, and from nowhere else', async () => {
      const written = [
        '203.0.113.7',
        '198.51.100.0/24',
        '::ffff:192.0.2.0/120',
        '2001:DB8:40:0::/48',
        '64:ff9b::5.6.7.8',
      ];
      const { id, key, shown } = await created(written);
      const blocks = ['203.0.113.7/32', '198.51.100.0/24', '192.0.2.0/24', '2001:db8:40::/48', '64:ff9b::506:708/128'];
      assert.deepEqual(shown, blocks);
      const { data } = (await admin.call('GET', KEYS)).json as unknown as { data: Record<string, unknown>[] };
      assert.deepEqual(data.find((one) => one['id'] === id)?.['allowed_addresses'], blocks);
      for (const address of [
        '203.0.113.7',
        '::ffff:203.0.113.7',
        '198.51.100.255',
        '192.0.2.9',
        '2001:db8:40:ffff::1',
        '64:ff9b::506:708',
        // What comes before the address that our own proxy adds is the client's word.
        '198.18.0.1, 203.0.113.7',
      ]) {
        assert.equal((await from(address, key)).status, 200, address);
      }
      for (const address of [
        '203.0.113.8',
        '198.51.101.0',
        '2001:db8:41::1',
        '::203.0.113.7',
        '203.0.113.7, 198.18.0.2',
        'unknown',
        '203.0.113.7:443',
      ]) {
        assertError(await from(address, key), 'permission_denied');
      }
      const direct = await get(testEnv.baseUrl, key, { 'x-forwarded-for': '203.0.113.7' });
      assertError(direct, 'permission_denied');
    });

    it('is refused elsewhere in the words of any refusal, and only the audit log has the reason, once an hour', async () => {
      const { id, key } = await created(['203.0.113.7']);
      for (let n = 0; n < 2; n++) {
        const { message } = assertError(await from('198.18.1.1', key), 'permission_denied');
        assert.doesNotMatch(message, /address/);
      }
      assertError(await from('198.18.1.2', key), 'permission_denied');
      const refusal = { action: `GET ${PATH}`, address: '198.18.1.1' };
      assert.deepEqual(await refusalsOf(id), [
        { ...refusal, reason: 'permission_denied: an address that the key does not allow' },
      ]);
      const { rows } = await testEnv.db.pool.query('SELECT last_used_at FROM api_key_uses WHERE api_key_id = $1', [id]);
      assert.deepEqual(rows, [{ last_used_at: null }]);
      await admin.call('DELETE', `${KEYS}/${id}`);
      assertError(await from('198.18.1.3', key), 'permission_denied');
      assertError(await from('203.0.113.7', key), 'api_key_revoked');
    });

    it('counts as refused for an address elsewhere, and still works from its own', async () => {
      const { key } = await created(['203.0.113.7']);
      for (let n = 0; n < 3; n++) assertError(await from('198.18.2.1', key), 'permission_denied');
      assertError(await from('198.18.2.1', key), 'rate_limited');
      assert.equal((await from('203.0.113.7', key)).status, 200);
    });

    it('keeps them when it is rolled', async () => {
      const { id } = await created(['203.0.113.7', '2001:db8:40::/48']);
      const rolled = await admin.call('POST', `${KEYS}/${id}/roll`, { json: {} });
      assert.deepEqual(rolled.json['allowed_addresses'], ['203.0.113.7/32', '2001:db8:40::/48']);
      assert.equal((await from('203.0.113.7', String(rolled.json['key']))).status, 200);
      assertError(await from('203.0.113.8', String(rolled.json['key'])), 'permission_denied');
    });

    it('is created from a form too, with one of them or several', async () => {
      const formOf = (...addresses: readonly string[]) =>
        new URLSearchParams([
          ['name', 'Shop'],
          ['scopes', 'balance:read'],
          ...addresses.map((address): [string, string] => ['allowed_addresses', address]),
        ]);
      const shown = [];
      for (const form of [formOf('203.0.113.7'), formOf('203.0.113.7', '2001:db8::/32')]) {
        shown.push((await admin.call('POST', KEYS, { form })).json['allowed_addresses']);
      }
      assert.deepEqual(shown, [['203.0.113.7/32'], ['203.0.113.7/32', '2001:db8::/32']]);
    });

    it('is not created with an ambiguous address, a repeated one, none or too many', async () => {
      const wrong = await create(['203.0.113.7', 'shop.example', '10.0.0.1/8']);
      assert.match(assertError(wrong, 'parameter_invalid').message, /203\.0\.113\.0\/24/);
      assert.deepEqual(issuesOf(wrong), [
        'allowed_addresses.1 parameter_invalid',
        'allowed_addresses.2 parameter_invalid',
      ]);
      for (const addresses of [
        [],
        '203.0.113.7',
        [7],
        [null],
        ['203.0.113.7', '203.0.113.7'],
        ['203.0.113.7', '203.0.113.7/32'],
        ['203.0.113.7', '::ffff:203.0.113.7'],
        ['2001:db8::1', '2001:DB8:0::1/128'],
        Array.from({ length: 21 }, (_, n) => `203.0.113.${n}`),
      ]) {
        assertError(await create(addresses), 'parameter_invalid');
      }
      assert.equal((await create(Array.from({ length: 20 }, (_, n) => `203.0.113.${n}`))).status, 201);
    });
  });

  it('creates no payout that would hold more than the policy allows, and the audit log says so', async () => {
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 100_000);
    const owner = await logInAs(testEnv, merchant.id, 'owner');
    const changed = await owner.call('PATCH', '/v1/console/policy', { json: { key_held_limit: 10_000 } });
    assert.deepEqual([changed.status, changed.json['key_held_limit']], [200, 10_000], changed.text);
    const request = (idempotencyKey: string) =>
      call(testEnv.baseUrl, 'POST', PAYOUTS, { key: merchant.key, json: collectionFields(), idempotencyKey });
    const [first] = [await request(randomUUID()), await request(randomUUID())];
    const third = randomUUID();
    for (let n = 0; n < 2; n++) {
      const refused = await request(third);
      assert.match(assertError(refused, 'state_conflict').message, /Nothing was held/);
      assert.equal(refused.headers.has('idempotent-replayed'), false);
    }
    assert.deepEqual(await balanceOf(testEnv, merchant), [90_000, 10_000]);
    const { rows } = await testEnv.db.pool.query<{ id: string }>('SELECT id FROM api_keys WHERE merchant_id = $1', [
      merchant.id,
    ]);
    const [refusal, ...more] = await refusalsOf(rows[0]?.id);
    assert.deepEqual([refusal?.reason, more], ['state_conflict: over the key_held_limit of the policy', []]);
    const reject = { json: { reason: 'Not known' } };
    const rejected = await owner.call('POST', `/v1/console/payouts/${String(first.json['id'])}/reject`, reject);
    assert.equal(rejected.status, 200, rejected.text);
    const accepted = await request(third);
    assert.deepEqual([accepted.status, accepted.json['state']], [202, 'queued'], accepted.text);
    const looser = await owner.call('PATCH', '/v1/console/policy', { json: { key_held_limit: null } });
    assert.equal(looser.status, 202, 'it takes two people to let a key hold more');
  });
});
