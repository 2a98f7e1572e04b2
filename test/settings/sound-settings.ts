// Settings for the tests of the configuration: a sound one of each environment, and what is wrong with another.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ConfigError, loadConfig } from '../../src/settings/config.ts';

export const SECRET_KEY = randomBytes(32);
export const ATTESTATION_KEY = randomBytes(32);
export const SECRETS: Readonly<Record<string, string>> = {
  MALIPO_DATABASE_URL: 'postgres://malipo:pa55-word@db.example/malipo',
  MALIPO_SECRET_KEYS: `a:${SECRET_KEY.toString('base64')}`,
  MALIPO_ATTESTATION_KEYS: `a:${ATTESTATION_KEY.toString('base64')}`,
  MALIPO_MTN_MOMO_COLLECTION_SUBSCRIPTION_KEY: 'subscription-secret',
  MALIPO_MTN_MOMO_COLLECTION_API_KEY: 'operator-secret',
  MALIPO_MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY: 'outgoing-subscription-secret',
  MALIPO_MTN_MOMO_DISBURSEMENT_API_KEY: 'outgoing-operator-secret',
};
export const SOUND: Readonly<Record<string, string>> = {
  ...SECRETS,
  MALIPO_MTN_MOMO_BASE_URL: 'https://sandbox.momodeveloper.mtn.com',
  MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: 'sandbox',
  MALIPO_MTN_MOMO_COLLECTION_API_USER: 'user',
  MALIPO_MTN_MOMO_DISBURSEMENT_API_USER: 'user',
};
export const AIRTEL = {
  MALIPO_AIRTEL_MONEY_BASE_URL: 'https://operator.example',
  MALIPO_AIRTEL_MONEY_COUNTRY: 'UG',
  MALIPO_AIRTEL_MONEY_CLIENT_ID: 'client',
  MALIPO_AIRTEL_MONEY_CLIENT_SECRET: 'airtel-secret',
  MALIPO_AIRTEL_MONEY_PIN: '2580',
};
export const DARAJA = {
  MALIPO_DARAJA_BASE_URL: 'https://operator.example',
  MALIPO_DARAJA_CONSUMER_KEY: 'consumer',
  MALIPO_DARAJA_CONSUMER_SECRET: 'daraja-secret',
  MALIPO_DARAJA_SHORTCODE: '174379',
  MALIPO_DARAJA_PASSKEY: 'daraja-passkey',
  MALIPO_DARAJA_PAYOUT_SHORTCODE: '600997',
  MALIPO_DARAJA_INITIATOR_NAME: 'initiator',
  MALIPO_DARAJA_INITIATOR_PASSWORD: 'daraja-password',
};
export const LIVE = {
  ...SOUND,
  MALIPO_ENVIRONMENT: 'live',
  MALIPO_DATABASE_URL: `${SECRETS['MALIPO_DATABASE_URL']}?sslmode=verify-full`,
  MALIPO_TEMPORAL_TLS: 'true',
  MALIPO_TEMPORAL_API_KEY: 'temporal-secret',
  MALIPO_TRUSTED_PROXIES: '1',
  MALIPO_PUBLIC_URL: 'https://api.malipo.example',
  MALIPO_MTN_MOMO_BASE_URL: 'https://proxy.momoapi.mtn.com',
  MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: 'mtnuganda',
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
