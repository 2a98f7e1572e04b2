// Secrets that the embedded start generates once: the keys that seal and attest, and the sandbox's credentials.
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readJsonFile } from './json-file.ts';
import { writePrivateFile } from '../engines/process/private-file.ts';

const secretsSchema = z.record(z.string(), z.string());

/** Seals the database. The other secrets are shared only by our own processes, and can be created again. */
const SEALING_KEY = 'MALIPO_SECRET_KEYS';

/**
 * Settings for both server and sandbox, the same at every start on this data folder. Missing secrets are added to the
 * file of an older version; existing ones are kept. Throws if the file cannot be read, or if it or its sealing key is
 * missing although `database` names a sealed one.
 */
export function demoSecrets(file: string, database: string | undefined): Record<string, string> {
  const remedy =
    'This file holds the key that seals the secrets in the database. Put a copy of it back, or remove the whole data folder ' +
    'with its database and begin again with an empty one.';
  const found = readJsonFile(file, secretsSchema, remedy);
  const existingSecrets = Object.fromEntries(Object.entries(found ?? {}).filter(([, secret]) => secret.trim() !== ''));
  if (existingSecrets[SEALING_KEY] === undefined && database !== undefined) {
    const problem = found === undefined ? 'is gone' : `has no ${SEALING_KEY}`;
    throw new Error(`${file} ${problem}, and the database in ${database} is there. ${remedy}`);
  }
  const fresh = { ...freshSecrets('demo'), ...darajaSecrets() };
  const secrets = { ...fresh, ...existingSecrets };
  if (Object.keys(fresh).some((name) => existingSecrets[name] === undefined)) {
    writePrivateFile(file, `${JSON.stringify(secrets, null, 2)}\n`);
  }
  return secrets;
}

/** Secrets for a server with its own sandbox operator. `keyName` names the keys of the rings. */
export function freshSecrets(keyName: string): Record<string, string> {
  return {
    [SEALING_KEY]: `${keyName}:${randomBytes(32).toString('base64')}`,
    MALIPO_ATTESTATION_KEYS: `${keyName}:${randomBytes(32).toString('base64')}`,
    MALIPO_OPERATOR_KEYS: `${keyName}:${randomBytes(32).toString('base64')}`,
    MALIPO_SANDBOX_MTN_COLLECTION_SUBSCRIPTION_KEY: randomBytes(16).toString('hex'),
    MALIPO_SANDBOX_MTN_COLLECTION_API_USER: randomUUID(),
    MALIPO_SANDBOX_MTN_COLLECTION_API_KEY: randomBytes(16).toString('hex'),
    MALIPO_SANDBOX_MTN_DISBURSEMENT_SUBSCRIPTION_KEY: randomBytes(16).toString('hex'),
    MALIPO_SANDBOX_MTN_DISBURSEMENT_API_USER: randomUUID(),
    MALIPO_SANDBOX_MTN_DISBURSEMENT_API_KEY: randomBytes(16).toString('hex'),
    MALIPO_SANDBOX_AIRTEL_CLIENT_ID: randomUUID(),
    MALIPO_SANDBOX_AIRTEL_CLIENT_SECRET: randomBytes(16).toString('hex'),
    MALIPO_SANDBOX_AIRTEL_PIN: String(randomInt(10_000)).padStart(4, '0'),
  };
}

/** M-Pesa's, which are of use only beside its certificate (`prepareDarajaFiles`). */
export function darajaSecrets(): Record<string, string> {
  return {
    MALIPO_SANDBOX_DARAJA_CONSUMER_KEY: randomBytes(16).toString('hex'),
    MALIPO_SANDBOX_DARAJA_CONSUMER_SECRET: randomBytes(16).toString('hex'),
    MALIPO_SANDBOX_DARAJA_SHORTCODE: '174379',
    MALIPO_SANDBOX_DARAJA_PASSKEY: randomBytes(32).toString('hex'),
    MALIPO_SANDBOX_DARAJA_PAYOUT_SHORTCODE: '600997',
    MALIPO_SANDBOX_DARAJA_INITIATOR_NAME: 'demo',
    MALIPO_SANDBOX_DARAJA_INITIATOR_PASSWORD: randomBytes(16).toString('hex'),
  };
}
