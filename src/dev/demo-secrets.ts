// Secrets that the embedded start generates once: the key for secrets at rest and the sandbox's credentials.
import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readJsonFile } from './json-file.ts';
import { writePrivateFile } from './private-file.ts';

const secretsSchema = z.record(z.string(), z.string());

/**
 * Settings for both server and sandbox, the same at every start on this data folder. Missing secrets are added to the
 * file of an older version; existing ones are kept. Throws when the file cannot be read, or is gone although `database`
 * names one that was sealed with it.
 */
export function demoSecrets(file: string, database: string | undefined): Record<string, string> {
  const remedy =
    'It holds the key that seals the secrets in the database. Put a copy of it back, or remove the whole data folder with ' +
    'its database and begin again with an empty one.';
  const found = readJsonFile(file, secretsSchema, remedy);
  if (found === undefined && database !== undefined) {
    throw new Error(`${file} is gone, and the database in ${database} is there. ${remedy}`);
  }
  const known = found ?? {};
  const fresh = freshSecrets();
  const secrets = { ...fresh, ...known };
  if (Object.keys(fresh).some((name) => known[name] === undefined)) {
    writePrivateFile(file, `${JSON.stringify(secrets, null, 2)}\n`);
  }
  return secrets;
}

function freshSecrets(): Record<string, string> {
  return {
    MALIPO_SECRET_KEYS: `demo:${randomBytes(32).toString('base64')}`,
    MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: 'sandbox',
    MALIPO_MTN_MOMO_COLLECTION_SUBSCRIPTION_KEY: randomBytes(16).toString('hex'),
    MALIPO_MTN_MOMO_COLLECTION_API_USER: randomUUID(),
    MALIPO_MTN_MOMO_COLLECTION_API_KEY: randomBytes(16).toString('hex'),
    MALIPO_MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY: randomBytes(16).toString('hex'),
    MALIPO_MTN_MOMO_DISBURSEMENT_API_USER: randomUUID(),
    MALIPO_MTN_MOMO_DISBURSEMENT_API_KEY: randomBytes(16).toString('hex'),
  };
}
