// The settings of the operators. The settings of Airtel are a group that is set whole or not at all, as are the settings of M-Pesa.
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

/** Set for workers, because only a worker calls the operator. */
const OPTIONAL_MTN_CREDENTIALS = z.object(MTN_CREDENTIALS).partial();

/** Set for workers. Without the whole group no phone is led to Airtel. */
export const AIRTEL_CREDENTIALS = {
  MALIPO_AIRTEL_MONEY_CLIENT_ID: z.string().min(1).optional(),
  MALIPO_AIRTEL_MONEY_CLIENT_SECRET: secret.optional(),
  // The PIN of the wallet from which payouts are paid.
  MALIPO_AIRTEL_MONEY_PIN: walletPin.optional(),
};

export const AIRTEL_SETTINGS = {
  MALIPO_AIRTEL_MONEY_BASE_URL: webAddress.optional(),
  // An account with Airtel belongs to one country.
  MALIPO_AIRTEL_MONEY_COUNTRY: z.enum(AIRTEL_COUNTRIES).optional(),
  ...AIRTEL_CREDENTIALS,
  MALIPO_AIRTEL_MONEY_CONNECTIONS: count.default(16),
  MALIPO_AIRTEL_MONEY_CALLS_PER_SECOND: count.default(100),
};

const EVERY_ROLE_NEEDS = ['MALIPO_AIRTEL_MONEY_BASE_URL', 'MALIPO_AIRTEL_MONEY_COUNTRY'];
const WORKERS_NEED = Object.keys(AIRTEL_CREDENTIALS);

/** A line for each missing setting of Airtel's group, if another setting of the group is set. */
function findIncompleteAirtel(environment: Environment, isWorker: boolean): string[] {
  const isSet = (name: string) => environment[name] !== undefined;
  if (![...EVERY_ROLE_NEEDS, ...WORKERS_NEED].some(isSet)) return [];
  const needed = isWorker ? [...EVERY_ROLE_NEEDS, ...WORKERS_NEED] : EVERY_ROLE_NEEDS;
  return needed
    .filter((name) => !isSet(name))
    .map((name) => `${name}: required with the other settings of Airtel Money`);
}

type AirtelSettings = z.infer<z.ZodObject<typeof AIRTEL_SETTINGS>>;

/** The settings that calls to Airtel need. */
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

/** The settings that calls to MTN need, for each product. */
type MtnAccount = Readonly<{ collection: MtnCredentials; disbursement: MtnCredentials }>;

/** Null if a setting is missing; a process with the role `worker` has all of them. */
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

/** All settings of the operators except the ones of MTN that every process needs. */
export const OPERATOR_SETTINGS = {
  // Required for workers: `findMissingCredentials`.
  ...OPTIONAL_MTN_CREDENTIALS.shape,
  MALIPO_MTN_MOMO_CONNECTIONS: count.default(16),
  MALIPO_MTN_MOMO_CALLS_PER_SECOND: count.default(100),
  ...AIRTEL_SETTINGS,
  ...DARAJA_SETTINGS,
};

export type OperatorAccounts = Readonly<{
  /** Null if a setting is missing; a process with the role `worker` has all of them. */
  mtnMomo: MtnAccount | null;
  /** Null if Airtel is not set up, or the process does not have the role `worker`. */
  airtelMoney: AirtelAccount | null;
  /** Null if M-Pesa is not set up, or the process does not have the role `worker`. */
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

/** A line for each missing setting. Processes that anybody can reach need no credentials that move money at the operators. */
export function findMissingCredentials(present: Environment, isWorker: boolean): string[] {
  const needed = isWorker ? Object.keys(MTN_CREDENTIALS) : [];
  const missing = needed.filter((name) => present[name] === undefined).map((name) => `${name}: ${NEEDED_BY_WORKERS}`);
  return [...missing, ...findIncompleteAirtel(present, isWorker), ...findIncompleteDaraja(present, isWorker)];
}

/** The environment without the settings that only a process with the role `worker` may have. */
export function withoutOperatorCredentials(environment: Environment): Environment {
  const credentials = [...Object.keys(MTN_CREDENTIALS), ...WORKERS_NEED, ...DARAJA_WORKERS_NEED];
  const names = credentials.flatMap((name) => [name, fileSetting(name)]);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));
}

const NO_AIRTEL = 'no phone is led to Airtel Money';

/** What applies if one of these settings is missing. */
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

/** The operators and markets that a deployment reaches with these settings. */
export function reachIn(settings: ReachSettings): Reach {
  return {
    mtnMomo: settings.MALIPO_MTN_MOMO_TARGET_ENVIRONMENT,
    airtelMoney: settings.MALIPO_AIRTEL_MONEY_COUNTRY,
    daraja: settings.MALIPO_DARAJA_BASE_URL === undefined ? undefined : 'KE',
  };
}

/** Null if the settings do not tell. */
export function findReachIn(
  settings: Readonly<{ [Name in keyof ReachSettings]?: ReachSettings[Name] | undefined }>,
): Reach | null {
  const { MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: target } = settings;
  return target === undefined ? null : reachIn({ ...settings, MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: target });
}

/** Airtel's hosts, and the prefix of its test system's host: real money moves at all its other hosts. */
const AIRTEL_HOST = /(^|\.)airtel\.[a-z.]+$/;
const AIRTEL_TEST_HOST = 'openapiuat.';

/** A line if a test key would reach Airtel's real money, or a live key its test system. */
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

/** Settings of the sandbox process, which plays Airtel. The callback address is here because Airtel is told it once, in its portal. */
export const AIRTEL_SANDBOX_SETTINGS = {
  ...AIRTEL_CREDENTIALS,
  MALIPO_SANDBOX_AIRTEL_CALLBACK_URL: webAddress.optional(),
  MALIPO_SANDBOX_AIRTEL_TOKEN_LIFE_MS: milliseconds.default(180_000),
};
