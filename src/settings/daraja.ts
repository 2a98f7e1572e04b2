// The settings of Safaricom's Daraja, the API of M-Pesa: a group that is set whole or not at all.
import { createPublicKey } from 'node:crypto';
import { z } from 'zod';
import { count, file, milliseconds, rsaPrivateKey, secret, webAddress, type Secret } from './values.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const shortcode = z.string().regex(/^\d{5,7}$/, 'must be a shortcode of five to seven digits');

/** Set for workers, because only a worker calls the operator. The sandbox operator, which plays Daraja, has them too. */
export const DARAJA_CREDENTIALS = {
  MALIPO_DARAJA_CONSUMER_KEY: z.string().min(1).optional(),
  MALIPO_DARAJA_CONSUMER_SECRET: secret.optional(),
  // Customers pay to this shortcode; the passkey makes the password of a prompt.
  MALIPO_DARAJA_SHORTCODE: shortcode.optional(),
  MALIPO_DARAJA_PASSKEY: secret.optional(),
  // Payouts are paid from this shortcode, in the name of the initiator.
  MALIPO_DARAJA_PAYOUT_SHORTCODE: shortcode.optional(),
  MALIPO_DARAJA_INITIATOR_NAME: z.string().min(1).optional(),
  MALIPO_DARAJA_INITIATOR_PASSWORD: secret.optional(),
};

/** M-Pesa's certificate, for whose key the initiator's password is encrypted. The test system has another certificate. */
const certificate = file.refine(isOfRsaKey, { error: 'must be a certificate of an RSA key, as PEM' });

export const DARAJA_SETTINGS = {
  MALIPO_DARAJA_BASE_URL: webAddress.optional(),
  ...DARAJA_CREDENTIALS,
  MALIPO_DARAJA_CERTIFICATE_FILE: certificate.optional(),
  MALIPO_DARAJA_CONNECTIONS: count.default(16),
  MALIPO_DARAJA_CALLS_PER_SECOND: count.default(20),
};

const BASE_URL = 'MALIPO_DARAJA_BASE_URL';
/** The settings that only workers need. */
export const DARAJA_WORKERS_NEED = [...Object.keys(DARAJA_CREDENTIALS), 'MALIPO_DARAJA_CERTIFICATE_FILE'];

/** A line for each missing setting of the group, if another setting of the group is set. */
export function findIncompleteDaraja(environment: Environment, isWorker: boolean): string[] {
  const isSet = (name: string) => environment[name] !== undefined;
  if (![BASE_URL, ...DARAJA_WORKERS_NEED].some(isSet)) return [];
  return (isWorker ? [BASE_URL, ...DARAJA_WORKERS_NEED] : [BASE_URL])
    .filter((name) => !isSet(name))
    .map((name) => `${name}: required with the other settings of M-Pesa`);
}

type DarajaSettings = z.infer<z.ZodObject<typeof DARAJA_SETTINGS>>;

/** The settings that calls to Daraja need. */
export type DarajaAccount = Readonly<{
  baseUrl: string;
  consumerKey: string;
  consumerSecret: Secret;
  shortcode: string;
  passkey: Secret;
  payoutShortcode: string;
  initiatorName: string;
  initiatorPassword: Secret;
  certificate: Secret;
}>;

/** Null if M-Pesa is not set up, or the process is no worker. */
export function darajaAccountIn(settings: DarajaSettings): DarajaAccount | null {
  const account = {
    baseUrl: settings.MALIPO_DARAJA_BASE_URL,
    consumerKey: settings.MALIPO_DARAJA_CONSUMER_KEY,
    consumerSecret: settings.MALIPO_DARAJA_CONSUMER_SECRET,
    shortcode: settings.MALIPO_DARAJA_SHORTCODE,
    passkey: settings.MALIPO_DARAJA_PASSKEY,
    payoutShortcode: settings.MALIPO_DARAJA_PAYOUT_SHORTCODE,
    initiatorName: settings.MALIPO_DARAJA_INITIATOR_NAME,
    initiatorPassword: settings.MALIPO_DARAJA_INITIATOR_PASSWORD,
    certificate: settings.MALIPO_DARAJA_CERTIFICATE_FILE,
  };
  return isWhole(account) ? account : null;
}

function isWhole(account: {
  readonly [Name in keyof DarajaAccount]: DarajaAccount[Name] | undefined;
}): account is DarajaAccount {
  return Object.values(account).every((value) => value !== undefined);
}

/** Safaricom's own hosts. Real money moves at all of them except the test system. */
const SAFARICOM_HOST = /(^|\.)safaricom\.(co\.ke|com)$/;
const TEST_HOST = 'sandbox.safaricom.co.ke';

/** A line if a test key would reach real money at Safaricom, or a live key its test system. */
export function findWrongDarajaHost(environment: Environment, isLive: boolean): string[] {
  const text = environment[BASE_URL];
  if (text === undefined || !URL.canParse(text)) return [];
  const { hostname } = new URL(text);
  const isTest = hostname === TEST_HOST;
  if (isLive && isTest) return [`${BASE_URL}: must not be the test system in the live environment`];
  return !isLive && SAFARICOM_HOST.test(hostname) && !isTest
    ? [`${BASE_URL}: must be no live system in the test environment`]
    : [];
}

/** Daraja refuses every payment whose addresses contain one of these words, in upper or lower case. */
const REFUSED_IN_ADDRESSES = /mpesa|m-pesa|safaricom|exe|cmd|sql|query/i;

/** A line if Daraja would refuse our callback addresses. */
export function findRefusedDarajaCallback(environment: Environment): string[] {
  if (environment[BASE_URL] === undefined) return [];
  const name = environment['MALIPO_CALLBACK_URL'] === undefined ? 'MALIPO_PUBLIC_URL' : 'MALIPO_CALLBACK_URL';
  const word = REFUSED_IN_ADDRESSES.exec(environment[name] ?? '')?.[0];
  return word === undefined ? [] : [`${name}: must not have "${word}" in it, which M-Pesa refuses in addresses`];
}

/** Settings of the sandbox process, which plays Daraja. Without a private key it makes a new key and certificate at each start. */
export const DARAJA_SANDBOX_SETTINGS = {
  ...DARAJA_CREDENTIALS,
  // The sandbox operator decrypts with this key what clients encrypt with its published certificate.
  MALIPO_SANDBOX_DARAJA_PRIVATE_KEY: rsaPrivateKey.optional(),
  MALIPO_SANDBOX_DARAJA_TOKEN_LIFE_MS: milliseconds.default(3_599_000),
};

function isOfRsaKey(pem: Secret): boolean {
  try {
    return createPublicKey(pem.reveal()).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
