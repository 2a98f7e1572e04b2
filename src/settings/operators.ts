// The settings of the operators. Those of Airtel are a group, which is set whole or not at all, as those of M-Pesa are.
import { z } from 'zod';
import { AIRTEL_COUNTRIES, type Reach } from '../domain/payments/operator-catalogue.ts';
import {
  DARAJA_SETTINGS,
  DARAJA_WORKERS_NEED,
  darajaAccountIn,
  findIncompleteDaraja,
  type DarajaAccount,
} from './daraja.ts';
import { fileSetting } from './secret-files.ts';
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
const OPTIONAL_MTN_CREDENTIALS = z.object(MTN_CREDENTIALS).partial();

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
function findIncompleteAirtel(environment: Environment, isWorker: boolean): string[] {
  const isSet = (name: string) => environment[name] !== undefined;
  if (![...EVERY_ROLE_NEEDS, ...WORKERS_NEED].some(isSet)) return [];
  const needed = isWorker ? [...EVERY_ROLE_NEEDS, ...WORKERS_NEED] : EVERY_ROLE_NEEDS;
  return needed
    .filter((name) => !isSet(name))
    .map((name) => `${name}: required with the other settings of Airtel Money`);
}

type AirtelSettings = z.infer<z.ZodObject<typeof AIRTEL_SETTINGS>>;

/** What calls to Airtel need; null where it is not set, or the process is no worker. */
type AirtelAccount = Readonly<{
  baseUrl: string;
  country: string;
  clientId: string;
  clientSecret: Secret;
  pin: Secret;
}>;

function airtelAccountIn(settings: AirtelSettings): AirtelAccount | null {
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
type MtnAccount = Readonly<{ collection: MtnCredentials; disbursement: MtnCredentials }>;

/** Null if one is not set, which is no process with the role `worker`. */
function mtnAccountIn(settings: z.infer<typeof OPTIONAL_MTN_CREDENTIALS>): MtnAccount | null {
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

/** All of the operators but MTN's, which every process needs. */
export const OPERATOR_SETTINGS = {
  // A worker's: `findMissingCredentials`.
  ...OPTIONAL_MTN_CREDENTIALS.shape,
  MALIPO_MTN_MOMO_CONNECTIONS: count.default(16),
  MALIPO_MTN_MOMO_CALLS_PER_SECOND: count.default(100),
  ...AIRTEL_SETTINGS,
  ...DARAJA_SETTINGS,
};

export type OperatorAccounts = Readonly<{
  /** Null if one setting is not set, which is no process with the role `worker`. */
  mtnMomo: MtnAccount | null;
  /** Null if Airtel is not set up, or this is no process with the role `worker`. */
  airtelMoney: AirtelAccount | null;
  /** The same of M-Pesa. */
  daraja: DarajaAccount | null;
}>;

export function operatorAccountsIn(settings: z.infer<z.ZodObject<typeof OPERATOR_SETTINGS>>): OperatorAccounts {
  return {
    mtnMomo: mtnAccountIn(settings),
    airtelMoney: airtelAccountIn(settings),
    daraja: darajaAccountIn(settings),
  };
}

const NEEDED_BY_WORKERS = 'required with the role worker';

/** A line for each missing setting. Processes that anybody can reach need not hold what moves money at the operators. */
export function findMissingCredentials(present: Environment, isWorker: boolean): string[] {
  const needed = isWorker ? Object.keys(MTN_CREDENTIALS) : [];
  const missing = needed.filter((name) => present[name] === undefined).map((name) => `${name}: ${NEEDED_BY_WORKERS}`);
  return [...missing, ...findIncompleteAirtel(present, isWorker), ...findIncompleteDaraja(present, isWorker)];
}

/** The environment as a process without the role `worker` may have it. */
export function withoutOperatorCredentials(environment: Environment): Environment {
  const credentials = [...Object.keys(MTN_CREDENTIALS), ...WORKERS_NEED, ...DARAJA_WORKERS_NEED];
  const names = credentials.flatMap((name) => [name, fileSetting(name)]);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));
}

const NO_AIRTEL = 'no phone is led to Airtel Money';

/** What applies when one of these is not set. */
export const WITHOUT_OPERATOR_SETTING: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(MTN_CREDENTIALS).map((name) => [name, NEEDED_BY_WORKERS])),
  MALIPO_AIRTEL_MONEY_BASE_URL: NO_AIRTEL,
  MALIPO_AIRTEL_MONEY_COUNTRY: NO_AIRTEL,
  MALIPO_DARAJA_BASE_URL: 'no phone is led to M-Pesa',
};

type ReachSettings = {
  readonly MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: string;
  readonly MALIPO_AIRTEL_MONEY_COUNTRY?: string | undefined;
  readonly MALIPO_DARAJA_BASE_URL?: string | undefined;
};

/** What the settings of the operators let a deployment reach. */
export function reachIn(settings: ReachSettings): Reach {
  return {
    mtnMomo: settings.MALIPO_MTN_MOMO_TARGET_ENVIRONMENT,
    airtelMoney: settings.MALIPO_AIRTEL_MONEY_COUNTRY,
    daraja: settings.MALIPO_DARAJA_BASE_URL === undefined ? undefined : 'KE',
  };
}

/** Null: the settings do not say. */
export function findReachIn(
  settings: Readonly<{ [Name in keyof ReachSettings]?: ReachSettings[Name] | undefined }>,
): Reach | null {
  const { MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: target } = settings;
  return target === undefined ? null : reachIn({ ...settings, MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: target });
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
