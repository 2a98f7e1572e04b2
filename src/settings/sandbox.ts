// The settings of the sandbox process, which plays the operators.
import { z } from 'zod';
import { count, milliseconds, port, rsaPrivateKey, secret, walletPin, webAddress } from './values.ts';

const shortcode = z.string().regex(/^\d{5,7}$/, 'must be a shortcode of five to seven digits');

export const SANDBOX_SETTINGS = z.object({
  MALIPO_SANDBOX_HOST: z.string().default('127.0.0.1'),
  MALIPO_SANDBOX_PORT: port.default(8090),
  MALIPO_SANDBOX_DATA_FILE: z.string().optional(),
  MALIPO_SANDBOX_DECISION_MS: milliseconds.default(1500),
  MALIPO_SANDBOX_PROMPT_EXPIRY_MS: milliseconds.default(30_000),
  MALIPO_SANDBOX_UNDECIDED_MS: milliseconds.default(360_000),
  MALIPO_SANDBOX_REVERSAL_MS: milliseconds.default(3000),
  MALIPO_SANDBOX_STARTING_FLOAT: z.coerce.number().int().min(0).max(1_000_000_000_000).default(1_000_000_000),
  MALIPO_SANDBOX_TRANSACTIONS: count.default(50_000),
  MALIPO_SANDBOX_MTN_COLLECTION_SUBSCRIPTION_KEY: secret,
  MALIPO_SANDBOX_MTN_COLLECTION_API_USER: z.string().min(1),
  MALIPO_SANDBOX_MTN_COLLECTION_API_KEY: secret,
  MALIPO_SANDBOX_MTN_DISBURSEMENT_SUBSCRIPTION_KEY: secret,
  MALIPO_SANDBOX_MTN_DISBURSEMENT_API_USER: z.string().min(1),
  MALIPO_SANDBOX_MTN_DISBURSEMENT_API_KEY: secret,
  // Without these three there is no API of Airtel.
  MALIPO_SANDBOX_AIRTEL_CLIENT_ID: z.string().min(1).optional(),
  MALIPO_SANDBOX_AIRTEL_CLIENT_SECRET: secret.optional(),
  MALIPO_SANDBOX_AIRTEL_PIN: walletPin.optional(),
  // Airtel is told it once, in its portal.
  MALIPO_SANDBOX_AIRTEL_CALLBACK_URL: webAddress.optional(),
  MALIPO_SANDBOX_AIRTEL_TOKEN_LIFE_MS: milliseconds.default(180_000),
  // Without these seven there is no API of Safaricom.
  MALIPO_SANDBOX_DARAJA_CONSUMER_KEY: z.string().min(1).optional(),
  MALIPO_SANDBOX_DARAJA_CONSUMER_SECRET: secret.optional(),
  MALIPO_SANDBOX_DARAJA_SHORTCODE: shortcode.optional(),
  MALIPO_SANDBOX_DARAJA_PASSKEY: secret.optional(),
  MALIPO_SANDBOX_DARAJA_PAYOUT_SHORTCODE: shortcode.optional(),
  MALIPO_SANDBOX_DARAJA_INITIATOR_NAME: z.string().min(1).optional(),
  MALIPO_SANDBOX_DARAJA_INITIATOR_PASSWORD: secret.optional(),
  // Decrypts what clients encrypt with the published certificate. Without it each start makes another key and certificate.
  MALIPO_SANDBOX_DARAJA_PRIVATE_KEY: rsaPrivateKey.optional(),
  MALIPO_SANDBOX_DARAJA_TOKEN_LIFE_MS: milliseconds.default(3_599_000),
});

export type SandboxProcessSettings = Readonly<z.infer<typeof SANDBOX_SETTINGS>>;

/** What applies if one of these settings is missing. */
export const WITHOUT_SANDBOX_SETTING: Readonly<Record<string, string>> = {
  MALIPO_SANDBOX_DATA_FILE: 'kept in memory only',
  MALIPO_SANDBOX_DARAJA_PRIVATE_KEY: 'another one after each start',
};
