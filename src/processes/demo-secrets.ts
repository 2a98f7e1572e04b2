// Secrets that the embedded start makes for itself once: the key for secrets at rest and the sandbox's credentials.
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { writePrivateFile } from './private-file.ts';

const secretsSchema = z.record(z.string(), z.string());

/** Settings for server and sandbox alike, the same at every start on this data folder. */
export function demoSecrets(file: string): Record<string, string> {
  if (existsSync(file)) return secretsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const secrets = {
    MALIPO_SECRET_KEYS: `demo:${randomBytes(32).toString('base64')}`,
    MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: 'sandbox',
    MALIPO_MTN_MOMO_COLLECTION_SUBSCRIPTION_KEY: randomBytes(16).toString('hex'),
    MALIPO_MTN_MOMO_COLLECTION_API_USER: randomUUID(),
    MALIPO_MTN_MOMO_COLLECTION_API_KEY: randomBytes(16).toString('hex'),
  };
  writePrivateFile(file, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}
