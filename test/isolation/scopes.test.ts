// Every public operation with every kind of API key: allowed with the scope that it needs, and with nothing less.
import assert from 'node:assert/strict';
import { findApiKeyByHash } from '../../src/db/accounts/api-key.ts';
import { SCOPES, type Scope } from '../../src/domain/accounts/api-key.ts';
import { hashApiKey } from '../../src/security/api-key.ts';
import type { MerchantId } from '../../src/domain/ids.ts';
import { API_SCOPES } from './access.ts';
import { sampleOf } from './samples.ts';
import type { Sample } from './operation.ts';
import { assertLetIn, assertRefused } from './call-effects.ts';
import { useIsolationEnvironment, type Headers, type Shop } from './tenants.ts';

describe('a scope', () => {
  const isolation = useIsolationEnvironment();
  let shop: Shop;
  let sample: (operationId: string) => Promise<Sample>;
  before(async () => {
    shop = await isolation.addShop();
    const { person } = await isolation.logInAs(shop, 'owner');
    sample = (operationId) => sampleOf(operationId, { testEnv: isolation.testEnv, shop, person });
  });

  type Key = { readonly headers: Headers; readonly apiKey: { readonly id: string; readonly merchantId: MerchantId } };

  async function keyWith(...scopes: readonly Scope[]): Promise<Key> {
    const { testEnv } = isolation;
    const text = await testEnv.addKey(shop.merchantId, scopes);
    const { id, merchantId } = (await findApiKeyByHash(testEnv.db, hashApiKey(text)))!;
    return { headers: { authorization: `Bearer ${text}` }, apiKey: { id, merchantId } };
  }

  for (const [operationId, scope] of Object.entries(API_SCOPES)) {
    it(`opens ${operationId} when it is ${scope}, and all the others together do not`, async () => {
      const call = { operationId, sample: await sample(operationId), person: null };
      const without = await keyWith(...SCOPES.filter((other) => other !== scope));
      const lacking = { ...call, ...without, code: 'insufficient_scope', why: `without ${scope}` } as const;
      const missing = { ...call, headers: {}, code: 'api_key_missing', why: 'without a key' } as const;
      const [response] = await assertRefused(isolation, [lacking, missing]);
      assert.ok(String(response?.json.error?.['message']).includes(scope), 'the error names the scope that is needed');
      const { headers } = await keyWith(scope);
      await assertLetIn(isolation, { ...call, headers, why: `with ${scope} alone` });
    });

    it(`is required of a key for ${operationId}, even with a session beside it`, async () => {
      const { headers: session } = await isolation.logInAs(shop, 'owner');
      const key = await keyWith(...SCOPES.filter((other) => other !== scope));
      const headers = { ...session, ...key.headers };
      const call = { operationId, sample: await sample(operationId), person: null, apiKey: key.apiKey, headers };
      await assertRefused(isolation, [{ ...call, code: 'insufficient_scope', why: 'with key and session' }]);
    });
  }
});
