// An account with M-Pesa at the sandbox operator of a test environment.
import { generateKeyPairSync } from 'node:crypto';
import { runFolder } from './engines.ts';
import { pemFile } from './tls.ts';

const ACCOUNT = {
  consumerKey: 'daraja-key',
  consumerSecret: 'daraja-secret',
  shortcode: '174379',
  passkey: 'daraja-passkey',
  payoutShortcode: '600997',
  initiatorName: 'testapi',
  initiatorPassword: 'Test-password-1',
};

/** With a key of its own: as the sandbox operator takes it, and as the settings of the server for that. */
export function createDarajaAccount() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const certificate = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  return {
    ofSandbox: { ...ACCOUNT, privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() },
    settings: (baseUrl: string): Readonly<Record<string, string>> => ({
      MALIPO_DARAJA_BASE_URL: baseUrl,
      MALIPO_DARAJA_CONSUMER_KEY: ACCOUNT.consumerKey,
      MALIPO_DARAJA_CONSUMER_SECRET: ACCOUNT.consumerSecret,
      MALIPO_DARAJA_SHORTCODE: ACCOUNT.shortcode,
      MALIPO_DARAJA_PASSKEY: ACCOUNT.passkey,
      MALIPO_DARAJA_PAYOUT_SHORTCODE: ACCOUNT.payoutShortcode,
      MALIPO_DARAJA_INITIATOR_NAME: ACCOUNT.initiatorName,
      MALIPO_DARAJA_INITIATOR_PASSWORD: ACCOUNT.initiatorPassword,
      MALIPO_DARAJA_CERTIFICATE_FILE: pemFile(runFolder(), 'daraja-certificate.pem', certificate),
    }),
  };
}
