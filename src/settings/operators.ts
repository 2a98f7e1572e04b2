// The settings of the operators. Those of Airtel are a group, which is set whole or not at all.
import { z } from 'zod';
import { AIRTEL_COUNTRIES, type Reach } from '../domain/payments/operator-catalogue.ts';
import { count, milliseconds, secret, walletPin, webAddress, type Secret } from './values.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Each of MTN's products has its own credentials; a worker needs both. */
export const MTN_CREDENTIALS = {
  MALIPO_MTN_MOMO_COLLECTION_SUBSCRIPTION_KEY: secret,
  MALIPO_MTN_MOMO_COLLECTION_API_USER: z.string().min(1),
  MALIPO_MTN_MOMO_COLLECTION_API_KEY: secret,
  MALIPO_MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY: secret,
  MALIPO_MTN_MOMO_DISBURSEMENT_API_USER: z.string().min(1),
  MALIPO_MTN_MOMO_DISBURSEMENT_API_KEY: secret,
};

/** A worker's, which alone calls the operator. */
export const OPTIONAL_MTN_CREDENTIALS = z.object(MTN_CREDENTIALS).partial();

/** The same of Airtel. Without all of the group, no phone is led to Airtel. */
export const AIRTEL_CREDENTIALS = {
  MALIPO_AIRTEL_MONEY_CLIENT_ID: z.string().min(1).optional(),
  MALIPO_AIRTEL_MONEY_CLIENT_SECRET: secret.optional(),
  // Of the wallet from which payouts are paid.
  MALIPO_AIRTEL_MONEY_PIN: walletPin.optional(),
};

export const AIRTEL_SETTINGS = {
  MALIPO_AIRTEL_MONEY_BASE_URL: webAddress.optional(),
  // An account with Airtel is one country's.
  MALIPO_AIRTEL_MONEY_COUNTRY: z.enum(AIRTEL_COUNTRIES).optional(),
  ...AIRTEL_CREDENTIALS,
  MALIPO_AIRTEL_MONEY_CONNECTIONS: count.default(16),
  MALIPO_AIRTEL_MONEY_CALLS_PER_SECOND: count.default(100),
};

const EVERY_ROLE_NEEDS = ['MALIPO_AIRTEL_MONEY_BASE_URL', 'MALIPO_AIRTEL_MONEY_COUNTRY'];
const WORKERS_NEED = Object.keys(AIRTEL_CREDENTIALS);

/** A line for each setting of Airtel's group that is missing although another one is there. */
export function findIncompleteAirtel(environment: Environment, isWorker: boolean): string[] {
  const isSet = (name: string) => environment[name] !== undefined;
  if (![...EVERY_ROLE_NEEDS, ...WORKERS_NEED].some(isSet)) return [];
  const needed = isWorker ? [...EVERY_ROLE_NEEDS, ...WORKERS_NEED] : EVERY_ROLE_NEEDS;
  return needed
    .filter((name) => !isSet(name))
    .map((name) => `${name}: required with the other settings of Airtel Money`);
}

type AirtelSettings = z.infer<z.ZodObject<typeof AIRTEL_SETTINGS>>;

/** What calls to Airtel need; null where it is not set, or the process is no worker. */
export type AirtelAccount = Readonly<{
  baseUrl: string;
  country: string;
  clientId: string;
  clientSecret: Secret;
  pin: Secret;
}>;

export function airtelAccountIn(settings: AirtelSettings): AirtelAccount | null {
  const {
    MALIPO_AIRTEL_MONEY_BASE_URL: baseUrl,
    MALIPO_AIRTEL_MONEY_COUNTRY: country,
    MALIPO_AIRTEL_MONEY_CLIENT_ID: clientId,
    MALIPO_AIRTEL_MONEY_CLIENT_SECRET: clientSecret,
    MALIPO_AIRTEL_MONEY_PIN: ownPin,
  } = settings;
  const isWhole =
    baseUrl !== undefined && country !== undefined && clientId !== undefined && clientSecret !== undefined;
  return isWhole && ownPin !== undefined ? { baseUrl, country, clientId, clientSecret, pin: ownPin } : null;
}

type MtnCredentials = Readonly<{ subscriptionKey: Secret; apiUser: string; apiKey: Secret }>;

/** What calls to MTN need: of each product its own. */
export type MtnAccount = Readonly<{ collection: MtnCredentials; disbursement: MtnCredentials }>;

/** Null where one is not set, which is no process with the role `worker`. */
export function mtnAccountIn(settings: z.infer<typeof OPTIONAL_MTN_CREDENTIALS>): MtnAccount | null {
  const collection = credentials(
    settings.MALIPO_MTN_MOMO_COLLECTION_SUBSCRIPTION_KEY,
    settings.MALIPO_MTN_MOMO_COLLECTION_API_USER,
    settings.MALIPO_MTN_MOMO_COLLECTION_API_KEY,
  );
  const disbursement = credentials(
    settings.MALIPO_MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY,
    settings.MALIPO_MTN_MOMO_DISBURSEMENT_API_USER,
    settings.MALIPO_MTN_MOMO_DISBURSEMENT_API_KEY,
  );
  return collection && disbursement && { collection, disbursement };
}

function credentials(subscriptionKey?: Secret, apiUser?: string, apiKey?: Secret): MtnCredentials | null {
  return subscriptionKey && apiUser !== undefined && apiKey ? { subscriptionKey, apiUser, apiKey } : null;
}

/** What the settings of the operators let a deployment reach. */
export function reachIn(settings: {
  readonly MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: string;
  readonly MALIPO_AIRTEL_MONEY_COUNTRY?: string | undefined;
}): Reach {
  return {
    mtnMomo: settings.MALIPO_MTN_MOMO_TARGET_ENVIRONMENT,
    airtelMoney: settings.MALIPO_AIRTEL_MONEY_COUNTRY,
  };
}

/** Hosts of Airtel's that are, and that are not, of its test system: real money moves at all the others of its names. */
const AIRTEL_HOST = /(^|\.)airtel\.[a-z.]+$/;
const AIRTEL_TEST_HOST = 'openapiuat.';

/** A line where a test key would reach Airtel's real money, or a live one its test system. */
export function findWrongAirtelHost(environment: Environment, isLive: boolean): string[] {
  const text = environment['MALIPO_AIRTEL_MONEY_BASE_URL'];
  if (text === undefined || !URL.canParse(text)) return [];
  const { hostname } = new URL(text);
  const isTest = hostname.startsWith(AIRTEL_TEST_HOST);
  if (isLive && isTest) return ['MALIPO_AIRTEL_MONEY_BASE_URL: must not be the test system in the live environment'];
  return !isLive && AIRTEL_HOST.test(hostname) && !isTest
    ? ['MALIPO_AIRTEL_MONEY_BASE_URL: must be no live system in the test environment']
    : [];
}

/** The sandbox process's: it is the other side, and called back where Airtel's portal would have been told. */
export const AIRTEL_SANDBOX_SETTINGS = {
  ...AIRTEL_CREDENTIALS,
  MALIPO_SANDBOX_AIRTEL_CALLBACK_URL: webAddress.optional(),
  MALIPO_SANDBOX_AIRTEL_TOKEN_LIFE_MS: milliseconds.default(180_000),
};
