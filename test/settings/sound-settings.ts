// Settings for the tests of the configuration: a sound one of each environment, and what is wrong with another.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ConfigError, loadConfig } from '../../src/settings/config.ts';

export const SECRET_KEY = randomBytes(32);
export const ATTESTATION_KEY = randomBytes(32);
const OPERATOR_KEY = randomBytes(32);
export const SECRETS: Readonly<Record<string, string>> = {
  MALIPO_DATABASE_URL: 'postgres://malipo:pa55-word@db.example/malipo',
  MALIPO_SECRET_KEYS: `a:${SECRET_KEY.toString('base64')}`,
  MALIPO_ATTESTATION_KEYS: `a:${ATTESTATION_KEY.toString('base64')}`,
  MALIPO_OPERATOR_KEYS: `a:${OPERATOR_KEY.toString('base64')}`,
};
export const SOUND = { ...SECRETS };
export const LIVE = {
  ...SOUND,
  MALIPO_ENVIRONMENT: 'live',
  MALIPO_DATABASE_URL: `${SECRETS['MALIPO_DATABASE_URL']}?sslmode=verify-full`,
  MALIPO_TEMPORAL_TLS: 'true',
  MALIPO_TEMPORAL_API_KEY: 'temporal-secret',
  MALIPO_TRUSTED_PROXIES: '1',
  MALIPO_PUBLIC_URL: 'https://api.malipo.example',
};

/** The names in the configuration error, in order. */
export function problemsOf(environment: Readonly<Record<string, string>>): string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => /^\w+/.exec(line.trim())![0]);
  }
  return [];
}
