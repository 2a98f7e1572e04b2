// The operators of a server: their adapters, which only a worker has, and the references in their callbacks.
import type { Config } from '../settings/config.ts';
import type { Queryable } from '../db/platform/database.ts';
import { operatorTokens, type OperatorTokens } from '../db/work/operator-tokens.ts';
import type { Product } from '../domain/payments/breaker.ts';
import { airtelMarket, type OperatorId } from '../domain/payments/operator-catalogue.ts';
import { createAirtelMoney, parseAirtelCallback } from '../operators/airtel-money/airtel-money.ts';
import { createDaraja } from '../operators/daraja/daraja.ts';
import { readMessage } from '../operators/daraja/messages.ts';
import { createMtnMomo, parseMtnCallback } from '../operators/mtn-momo/mtn-momo.ts';
import { absentOperator } from '../operators/absent-operator.ts';
import type { Operator } from '../operators/port.ts';
import { callbackToken, messagePath } from '../security/callback-token.ts';
import { measuredOperator, type MeasuredCall } from './metrics/measured-calls.ts';

export type Operators = Readonly<Record<OperatorId, Operator>>;

/** The reference in a callback of each operator, or null if it has none. Requires no credentials. */
export const PARSE_CALLBACK: Readonly<Record<OperatorId, Operator['parseCallback']>> = {
  'mtn-momo': parseMtnCallback,
  'airtel-money': parseAirtelCallback,
  // What names one of its payments comes to an address of that payment.
  daraja: () => null,
};

/** `db` holds the tokens shared by all processes. Throws without MTN's credentials; the role `worker` has them. */
export function createOperators(config: Config, db: Queryable, onCalled: (call: MeasuredCall) => void): Operators {
  const tokensOf = (operator: OperatorId) => (product: Product) =>
    operatorTokens(db, { operator, product, ring: config.settings.MALIPO_SECRET_KEYS });
  return {
    'mtn-momo': measuredOperator(mtnMomo(config, tokensOf('mtn-momo')), onCalled),
    'airtel-money': measuredOperator(airtelMoney(config, tokensOf('airtel-money')), onCalled),
    daraja: measuredOperator(mpesa(config, tokensOf('daraja')), onCalled),
  };
}

function callbackHostIn({ MALIPO_CALLBACK_URL, MALIPO_PUBLIC_URL }: Config['settings']): string {
  return (MALIPO_CALLBACK_URL ?? MALIPO_PUBLIC_URL).replace(/\/$/, '');
}

type TokensOf = (product: Product) => OperatorTokens;

function mtnMomo({ settings, mtnMomo: credentials, clocks }: Config, tokensOf: TokensOf): Operator {
  if (credentials === null) throw new Error('a worker was started without the credentials of the operator');
  const { MALIPO_ATTESTATION_KEYS: attestationKeys } = settings;
  const callbackHost = callbackHostIn(settings);
  return createMtnMomo({
    baseUrl: settings.MALIPO_MTN_MOMO_BASE_URL,
    targetEnvironment: settings.MALIPO_MTN_MOMO_TARGET_ENVIRONMENT,
    callbackUrl: (reference) =>
      `${callbackHost}/operators/mtn-momo/callbacks/${callbackToken('mtn-momo', reference, attestationKeys)}`,
    collection: revealed(credentials.collection),
    disbursement: revealed(credentials.disbursement),
    requestTimeoutMs: clocks.operatorTimeoutMs,
    connections: settings.MALIPO_MTN_MOMO_CONNECTIONS,
    tokens: { collection: tokensOf('collection'), disbursement: tokensOf('disbursement') },
  });
}

// A deployment without Airtel may still have earlier payments there.
function airtelMoney({ settings, airtelMoney: account, clocks }: Config, tokensOf: TokensOf): Operator {
  if (account === null)
    return absentOperator('airtel-money', { parseCallback: parseAirtelCallback, readMessage: null });
  return createAirtelMoney({
    baseUrl: account.baseUrl,
    credentials: { clientId: account.clientId, clientSecret: account.clientSecret.reveal() },
    pin: account.pin.reveal(),
    market: airtelMarket(account.country),
    requestTimeoutMs: clocks.operatorTimeoutMs,
    connections: settings.MALIPO_AIRTEL_MONEY_CONNECTIONS,
    // One account has one token for both products.
    tokens: tokensOf('collection'),
  });
}

// As for Airtel.
function mpesa({ settings, daraja: account, clocks }: Config, tokensOf: TokensOf): Operator {
  if (account === null) return absentOperator('daraja', { parseCallback: PARSE_CALLBACK.daraja, readMessage });
  const { MALIPO_ATTESTATION_KEYS: attestationKeys } = settings;
  const { consumerSecret, passkey, initiatorPassword, certificate, ...named } = account;
  const callbackHost = callbackHostIn(settings);
  return createDaraja({
    ...named,
    credentials: { consumerKey: account.consumerKey, consumerSecret: consumerSecret.reveal() },
    passkey: passkey.reveal(),
    initiatorPassword: initiatorPassword.reveal(),
    certificate: certificate.reveal(),
    addressOf: (purpose, reference, queryId) =>
      callbackHost + messagePath('daraja', purpose, queryId ?? reference, attestationKeys),
    requestTimeoutMs: clocks.operatorTimeoutMs,
    connections: settings.MALIPO_DARAJA_CONNECTIONS,
    // One application has one token for both products.
    tokens: tokensOf('collection'),
  });
}

/** The most connections of a process to each operator, and the most calls a second of all processes together. */
export function callLimits({ settings }: Config): Readonly<Record<OperatorId, CallLimits>> {
  return {
    'mtn-momo': {
      connections: settings.MALIPO_MTN_MOMO_CONNECTIONS,
      perSecond: settings.MALIPO_MTN_MOMO_CALLS_PER_SECOND,
    },
    'airtel-money': {
      connections: settings.MALIPO_AIRTEL_MONEY_CONNECTIONS,
      perSecond: settings.MALIPO_AIRTEL_MONEY_CALLS_PER_SECOND,
    },
    daraja: {
      connections: settings.MALIPO_DARAJA_CONNECTIONS,
      perSecond: settings.MALIPO_DARAJA_CALLS_PER_SECOND,
    },
  };
}

type CallLimits = { readonly connections: number; readonly perSecond: number };

export async function closeOperators(operators: Operators): Promise<void> {
  await Promise.all(Object.values(operators).map((operator) => operator.close()));
}

function revealed({ subscriptionKey, apiUser, apiKey }: NonNullable<Config['mtnMomo']>['collection']) {
  return { subscriptionKey: subscriptionKey.reveal(), apiUser, apiKey: apiKey.reveal() };
}
