// The sandbox operator's Airtel API: access, signatures, refusals and their codes.
import assert from 'node:assert/strict';
import { constants, createCipheriv, createPublicKey, publicEncrypt, randomBytes, type KeyObject } from 'node:crypto';
import { request } from 'undici';
import { AIRTEL, startTestSandbox, until, withSandbox } from './sandbox-harness.ts';
import { useFixture } from '../support/use-fixture.ts';

type Answer = {
  readonly status: number;
  readonly body: {
    readonly data?: { readonly transaction?: Record<string, unknown>; readonly key?: string };
    readonly status?: Record<string, unknown>;
    readonly access_token?: string;
    readonly expires_in?: string;
  };
};

describe("the sandbox operator's Airtel API", () => {
  const sandbox = useFixture(
    () => startTestSandbox({ airtel: AIRTEL }),
    (running) => running.stop(),
  );
  let [bearer, key]: [string, KeyObject] = ['', undefined as unknown as KeyObject];
  let ids = 0;

  const send = async (method: 'GET' | 'POST', path: string, body?: string, headers = {}): Promise<Answer> => {
    const response = await request(`${sandbox.url}${path}`, { method, headers, body: body ?? null });
    return { status: response.statusCode, body: (await response.body.json()) as Answer['body'] };
  };
  const ofMarket = () => ({ 'X-Country': 'UG', 'X-Currency': 'UGX', Authorization: `Bearer ${bearer}` });
  const get = (path: string, headers = {}) => send('GET', path, undefined, { ...ofMarket(), ...headers });
  const token = (changes = {}) => {
    const { clientId: client_id, clientSecret: client_secret } = AIRTEL;
    const body = JSON.stringify({ client_id, client_secret, grant_type: 'client_credentials', ...changes });
    return send('POST', '/auth/oauth2/token', body, { 'Content-Type': 'application/json' });
  };
  const encrypted = (text: string) =>
    publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(text)).toString('base64');

  function post(path: string, body: unknown, { signed = JSON.stringify(body), headers = {} } = {}): Promise<Answer> {
    const [aesKey, iv] = [randomBytes(32), randomBytes(16)];
    const cipher = createCipheriv('aes-256-cbc', aesKey, iv);
    const signature = Buffer.concat([cipher.update(signed), cipher.final()]).toString('base64');
    const own = {
      'Content-Type': 'application/json',
      'x-signature': signature,
      'x-key': encrypted(`${aesKey.toString('base64')}:${iv.toString('base64')}`),
    };
    return send('POST', path, JSON.stringify(body), { ...ofMarket(), ...own, ...headers });
  }

  const collection = (changes: Record<string, unknown> = {}, id = `ID${(ids += 1)}X`) => ({
    reference: 'Order 17',
    subscriber: { country: 'UG', currency: 'UGX', msisdn: '752123500' },
    transaction: { amount: 500, country: 'UG', currency: 'UGX', id },
    ...changes,
  });
  const payout = (pin: string) => ({
    payee: { msisdn: '752123500', currency: 'UGX' },
    reference: 'Wages',
    pin: encrypted(pin),
    transaction: { amount: 500, id: `ID${(ids += 1)}X`, type: 'B2C' },
  });
  const collect = (body: unknown, options = {}) => post('/merchant/v2/payments/', body, options);
  const codesOf = ({ body: { status } }: Answer) => [
    status?.['success'],
    status?.['response_code'] ?? status?.['result_code'],
  ];

  before(async () => {
    bearer = (await token()).body.access_token ?? '';
    const published = (await get('/v1/rsa/encryption-keys')).body.data?.key ?? '';
    key = createPublicKey({ key: Buffer.from(published, 'base64'), format: 'der', type: 'spki' });
  });

  it('gives a token for three minutes to those who know the secret, as a text', async () => {
    assert.equal((await token()).body.expires_in, '180');
    assert.equal((await token({ client_secret: 'wrong' })).status, 401);
    assert.equal((await token({ grant_type: 'other' })).status, 401);
    assert.equal((await get('/standard/v1/payments/X', { Authorization: 'Bearer wrong' })).status, 401);
  });

  it('takes a token until it expires', async () => {
    await withSandbox({ airtel: AIRTEL, times: { airtelTokenLifeMs: 50 } }, async (_client, { url }) => {
      const { clientId: client_id, clientSecret: client_secret } = AIRTEL;
      const body = JSON.stringify({ client_id, client_secret, grant_type: 'client_credentials' });
      const headers = { 'Content-Type': 'application/json' };
      const issued = await request(`${url}/auth/oauth2/token`, { method: 'POST', headers, body });
      const { access_token: short } = (await issued.body.json()) as { access_token: string };
      const status = await until(
        async () => {
          const response = await request(`${url}/standard/v1/payments/X`, {
            headers: { ...ofMarket(), Authorization: `Bearer ${short}` },
          });
          await response.body.dump();
          return response.statusCode;
        },
        (code) => code === 401,
      );
      assert.equal(status, 401);
    });
  });

  it('takes a signed payment, and says of it what Airtel would', async () => {
    const body = collection();
    assert.deepEqual(codesOf(await collect(body)), [true, 'DP00800001006']);
    const { id } = body.transaction;
    const paid = await until(
      () => get(`/standard/v1/payments/${id}`),
      (answer) => answer.body.data?.transaction?.['status'] === 'TS',
    );
    const transaction = paid.body.data?.transaction;
    assert.equal(transaction?.['id'], id);
    assert.match(String(transaction['airtel_money_id']), /^CI\d+$/);
    assert.equal(transaction['amount'], undefined);
    assert.deepEqual(codesOf(await collect(body)), [false, 'ESB000041']);
    assert.deepEqual(codesOf(await get(`/standard/v1/disbursements/${id}`)), [false, 'ESB000045']);
  });

  it('refunds a paid collection by its receipt, once, and says so by the status of the collection alone', async () => {
    const refund = (receipt: unknown, options = {}) =>
      post('/standard/v2/payments/refund', { transaction: { airtel_money_id: receipt } }, options);
    const body = collection();
    await collect(body);
    const path = `/standard/v1/payments/${body.transaction.id}`;
    const untilStatus = (word: string) =>
      until(
        () => get(path),
        (answer) => answer.body.data?.transaction?.['status'] === word,
      );
    const receipt = (await untilStatus('TS')).body.data?.transaction?.['airtel_money_id'];
    for (const [other, code] of [
      ['CI1', 'ESB000045'],
      ['1', 'ESB000045'],
      [7, 'ESB000008'],
    ] as const) {
      assert.deepEqual(codesOf(await refund(other)), [false, code]);
    }
    assert.deepEqual(codesOf(await refund(receipt, { signed: '{}' })), [false, 'DP00800001026']);
    const taken = await refund(receipt);
    assert.deepEqual(codesOf(taken), [false, 'ESB000010']);
    assert.deepEqual(taken.body.data?.transaction, { airtel_money_id: receipt, status: 'SUCCESS' });
    const { airtel_money_id: shown } = (await untilStatus('TR')).body.data?.transaction ?? {};
    assert.equal(shown, undefined);
    assert.deepEqual(codesOf(await refund(receipt)), [false, 'ESB000011']);
  });

  it('refuses what is not signed as it is sent', async () => {
    const other = JSON.stringify(collection());
    assert.deepEqual(codesOf(await collect(collection(), { signed: other })), [false, 'DP00800001026']);
    for (const name of ['x-signature', 'x-key']) {
      assert.deepEqual(codesOf(await collect(collection(), { headers: { [name]: 'AAAA' } })), [false, 'DP00800001026']);
    }
  });

  it('pays out only with the PIN of the wallet', async () => {
    const path = '/standard/v2/disbursements/';
    assert.deepEqual(codesOf(await post(path, payout(AIRTEL.pin))), [true, 'DP00900001006']);
    assert.deepEqual(codesOf(await post(path, payout('0000'))), [false, 'DP00900001010']);
    assert.deepEqual(codesOf(await post(path, { ...payout('0000'), pin: '0000' })), [false, 'DP00900001010']);
  });

  it('refuses what is written otherwise than Airtel’s documents say', async () => {
    const { subscriber, transaction } = collection();
    const wrong: [Record<string, unknown>, string][] = [
      [{ subscriber: { ...subscriber, msisdn: '256752123500' } }, 'ESB000008'],
      [{ subscriber: { ...subscriber, msisdn: '0752123500' } }, 'ESB000008'],
      [{ subscriber: { ...subscriber, country: 'KE' } }, 'ESB000008'],
      [{ reference: '' }, 'ESB000008'],
      [{ transaction: { ...transaction, id: 'with-dashes' } }, 'ESB000008'],
      [{ transaction: { ...transaction, amount: '500' } }, 'DP00800001004'],
      [{ transaction: { ...transaction, amount: 0 } }, 'DP00800001004'],
      [{ transaction: { ...transaction, amount: 1.001 } }, 'DP00800001004'],
    ];
    for (const [changes, code] of wrong) {
      assert.deepEqual(codesOf(await collect(collection(changes))), [false, code], JSON.stringify(changes));
    }
    assert.deepEqual(codesOf(await get('/standard/v1/payments/X', { 'X-Currency': 'KES' })), [false, 'ROUTER006']);
  });
});
