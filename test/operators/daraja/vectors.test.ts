// The Daraja adapter's requests, compared with the vectors of its wire: M-Pesa's own key reads what is encrypted.
import { json } from '../stub-operator.ts';
import { sendsItsVectors, type SentRequest } from '../vectors.ts';
import { decrypted, useDarajaWire } from './wire-harness.ts';

const wire = useDarajaWire();

sendsItsVectors(
  'daraja',
  {
    get stub() {
      return wire.stub;
    },
    get operator() {
      return wire.operator;
    },
    openFor() {
      wire.reply(json(500, {}));
      return Promise.resolve(wire.operator);
    },
  },
  disclosed,
);

/** In place of what only M-Pesa reads stands what is in it, and in place of a random id that it is one. */
function disclosed(sent: SentRequest): Promise<SentRequest> {
  const body = sent.body
    .replace(/(?<="SecurityCredential":")[^"]+/, (encrypted) => `RSA(${decrypted(encrypted)})`)
    .replace(/(?<="requestID":")[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=")/, 'UUID');
  return Promise.resolve({ ...sent, body });
}
