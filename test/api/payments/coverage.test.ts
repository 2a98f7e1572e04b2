// Which countries a deployment reaches: what its operator would refuse is refused at once, and not accepted first.
import assert from 'node:assert/strict';
import { createApiKey } from '../../../src/operations/accounts/create-api-key.ts';
import { SCOPES } from '../../../src/domain/accounts/api-key.ts';
import type { Currency } from '../../../src/domain/money.ts';
import { call, collectionFields } from '../../support/api.ts';
import { addPerson } from '../../support/people.ts';
import { startLiveServer } from '../../support/live-server.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError } from '../responses.ts';
import { makeCheckout } from '../../db/payments/checkouts.ts';
import { attestAll, attestorOf } from '../../support/attestation.ts';
import { countRows } from '../../db/rows.ts';

const UGANDAN = '256772000100';
const RWANDAN = '250788000100';

describe('a live deployment at MTN Uganda', () => {
  const testEnv = useTestEnvironment({ ...API_ONLY, mtnMomoCountry: 'UG', hasAirtel: false });
  let baseUrl: string;

  before(async () => {
    const server = await startLiveServer(testEnv);
    baseUrl = server.baseUrl;
  });

  async function liveKey(currency: Currency): Promise<string> {
    const { id: merchantId, makerId } = await testEnv.addMerchant(currency);
    // Without two owners nothing is paid out, in whatever country the phone is.
    await addPerson(testEnv, merchantId, ['owner']);
    await addPerson(testEnv, merchantId, ['owner']);
    const name = 'live';
    const input = { merchantId, name, scopes: SCOPES, expiresAt: null, createdBy: makerId, by: null, at: new Date() };
    const { key } = await createApiKey(testEnv.db, { ...input, environment: 'live' });
    await attestAll(testEnv.db, attestorOf('live'));
    return key;
  }

  for (const path of ['/v1/api/collections', '/v1/api/payouts'] as const) {
    it(`refuses a phone in another of MTN’s countries at ${path}, although the currency is the merchant’s`, async () => {
      const key = await liveKey('RWF');
      const response = await call(baseUrl, 'POST', path, { key, json: collectionFields({ phone: RWANDAN }) });
      assert.equal(assertError(response, 'phone_unsupported').param, 'phone');
      assert.equal(await countRows(testEnv.db, 'payments'), 0);
    });
  }

  it('says that no operator takes the currency of the account, whatever the phone', async () => {
    const key = await liveKey('RWF');
    const response = await call(baseUrl, 'POST', '/v1/api/collections', { key, json: collectionFields() });
    assert.match(
      assertError(response, 'phone_unsupported').message,
      /No available operator supports RWF, the currency of your account/,
    );
    const ugandan = await call(baseUrl, 'POST', '/v1/api/collections', {
      key: await liveKey('UGX'),
      json: collectionFields({ phone: RWANDAN }),
    });
    assert.match(assertError(ugandan, 'phone_unsupported').message, /belong to no available operator for UGX/);
  });

  it('takes no payment at a checkout in a currency that no operator takes there, and says so', async () => {
    const { id, makerId } = await testEnv.addMerchant('RWF');
    const { code } = await makeCheckout(testEnv.db, id, makerId, { currency: 'RWF' });
    const form = await fetch(`${baseUrl}/pay/${code}`);
    const shown = await form.text();
    assert.match(shown, /No mobile-money operator takes this amount in this currency here/);
    assert.doesNotMatch(shown, /Works with|name="phone"/);
    const inUganda = await makeCheckout(testEnv.db, testEnv.merchant.id, testEnv.merchant.makerId);
    assert.match(await (await fetch(`${baseUrl}/pay/${inUganda.code}`)).text(), /Works with: MTN MoMo\./);
  });

  it('accepts a phone in Uganda', async () => {
    const json = collectionFields({ phone: UGANDAN });
    const response = await call(baseUrl, 'POST', '/v1/api/collections', { key: await liveKey('UGX'), json });
    assert.equal(response.status, 202, response.text);
  });
});

describe('a test deployment at the sandbox', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  it('accepts phones of every country that an operator serves', async () => {
    const { key } = await testEnv.addMerchant('RWF');
    const json = collectionFields({ phone: RWANDAN });
    const response = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json });
    assert.equal(response.status, 202, response.text);
  });
});
