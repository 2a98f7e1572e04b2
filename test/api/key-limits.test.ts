// Limits of API keys: how many requests one makes in a second, and how many an address may get wrong.
import assert from 'node:assert/strict';
import { call } from '../support/api.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY, assertError, startAnotherServer } from './responses.ts';

const PATH = '/v1/api/balance';
const WRONG_KEY = `sk_test_${'a'.repeat(36)}`;

describe('an API key', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  const get = (baseUrl: string, key: string, headers: Record<string, string> = {}) =>
    call(baseUrl, 'GET', PATH, { key, headers });

  it('is limited to its requests per second, whatever the address, and no other key with it', async () => {
    const settings = { MALIPO_KEY_RATE_LIMIT_PER_SECOND: '5', MALIPO_TRUSTED_PROXIES: '1' };
    const { baseUrl } = await startAnotherServer(testEnv, settings);
    const other = await testEnv.addKey(testEnv.merchant.id, ['balance:read']);
    // More than one second lets through, however the requests fall into seconds.
    const many = await Promise.all(
      Array.from({ length: 60 }, (_, n) => get(baseUrl, testEnv.merchant.key, { 'x-forwarded-for': `203.0.113.${n}` })),
    );
    const refused = many.filter(({ status }) => status === 429);
    assert.ok(many.some(({ status }) => status === 200));
    assert.ok(refused.length > 0, 'some are refused');
    for (const response of refused) assert.match(assertError(response, 'rate_limited').message, /this key/);
    assert.equal((await get(baseUrl, other)).status, 200);
  });

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
    const settings = { MALIPO_REFUSED_KEYS_PER_ADDRESS: '6', MALIPO_KEY_RATE_LIMIT_PER_SECOND: '1000' };
    const { baseUrl } = await startAnotherServer(testEnv, settings);
    for (let n = 0; n < 3; n++) assert.equal((await get(baseUrl, testEnv.merchant.key)).status, 200);
    assert.deepEqual((await testEnv.db.pool.query('SELECT subject FROM attempt_counters')).rows, []);
  });
});
