// An account with M-Pesa at the sandbox operator of a test environment.
import { generateKeyPairSync } from 'node:crypto';
import type { DemoAccount } from '../../src/dev/demo-accounts.ts';

const ACCOUNT = {
  consumerKey: 'daraja-key',
  consumerSecret: 'daraja-secret',
  shortcode: '174379',
  passkey: 'daraja-passkey',
  payoutShortcode: '600997',
  initiatorName: 'testapi',
  initiatorPassword: 'Test-password-1',
};

/** With a key of its own: as the sandbox operator takes it, and as the account with it. */
export function createDarajaAccount() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const certificate = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  return {
    ofSandbox: { ...ACCOUNT, privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() },
    accountAt: (baseUrl: string): DemoAccount => ({
      terms: { operator: 'daraja', country: 'KE', baseUrl, callsPerSecond: 20 },
      credentials: { ...ACCOUNT, certificate },
    }),
  };
}
