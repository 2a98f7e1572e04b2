// The Airtel adapter's requests, compared with the vectors of its wire: the sandbox operator's own key reads what is signed and encrypted.
import assert from 'node:assert/strict';
import { OPERATORS } from '../../../src/domain/payments/operator-catalogue.ts';
import { createAirtelKeys } from '../../../src/sandbox/airtel-keys.ts';
import { json } from '../stub-operator.ts';
import { sendsItsVectors, type SentRequest } from '../vectors.ts';
import { useAirtelWire } from './wire-harness.ts';

const wire = useAirtelWire();
const keys = createAirtelKeys();

sendsItsVectors(
  'airtel-money',
  {
    get stub() {
      return wire.stub;
    },
    get operator() {
      return wire.operator;
    },
    async openFor(currency) {
      wire.replyToKeys(json(200, { data: { key_id: '1', key: await keys.publicKey() }, status: { success: true } }));
      const market = OPERATORS['airtel-money'].markets.find((each) => each.currency === currency);
      assert.ok(market !== undefined);
      // The harness closes its own adapter alone.
      await wire.operator.close();
      wire.operator = wire.open({ market });
      return wire.operator;
    },
  },
  disclosed,
);

/** In place of what only the holder of the private key reads stands what is in it; a signature that signs other bytes stays as it is. */
async function disclosed(sent: SentRequest): Promise<SentRequest> {
  const { 'x-signature': signature, 'x-key': key, ...headers } = sent.headers;
  if (signature === undefined || key === undefined) return sent;
  const isSigned = await keys.isSigned(sent.body, signature, key);
  const signing = isSigned
    ? { 'x-signature': 'AES(body)', 'x-key': 'RSA(key:iv)' }
    : { 'x-signature': signature, 'x-key': key };
  return { ...sent, headers: { ...headers, ...signing }, body: await withOpenPin(sent.body) };
}

async function withOpenPin(body: string): Promise<string> {
  const encrypted = /"pin":"([^"]+)"/.exec(body)?.[1];
  return encrypted === undefined
    ? body
    : body.replace(encrypted, `RSA(${(await keys.decrypted(encrypted)) ?? 'unreadable'})`);
}
