// The operators of a server: their adapters, which a worker alone has, and what their callbacks name.
import type { Config } from '../settings/config.ts';
import type { Queryable } from '../db/platform/database.ts';
import { operatorTokens } from '../db/work/operator-tokens.ts';
import type { Product } from '../domain/payments/breaker.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { createMtnMomo, parseMtnCallback } from '../operators/mtn-momo/mtn-momo.ts';
import type { Operator } from '../operators/port.ts';
import { callbackToken } from '../security/callback-token.ts';
import { measuredOperator, type MeasuredCall } from './metrics/measured-calls.ts';

export type Operators = Readonly<Record<OperatorId, Operator>>;

/** The reference in a callback of each operator, or null when it has none. It takes no credentials. */
export const PARSE_CALLBACK: Readonly<Record<OperatorId, Operator['parseCallback']>> = { 'mtn-momo': parseMtnCallback };

/** `db` holds the tokens that all processes share. Throws where a credential is missing, which no configuration with the role `worker` lacks. */
export function createOperators(
  { settings, mtnMomo, clocks }: Config,
  db: Queryable,
  onCalled: (call: MeasuredCall) => void,
): Operators {
  if (mtnMomo === null) throw new Error('a worker was started without the credentials of the operator');
  const { collection, disbursement } = mtnMomo;
  const { MALIPO_ATTESTATION_KEYS: attestationKeys } = settings;
  const callbackHost = (settings.MALIPO_CALLBACK_URL ?? settings.MALIPO_PUBLIC_URL).replace(/\/$/, '');
  const tokensOf = (product: Product) =>
    operatorTokens(db, { operator: 'mtn-momo', product, ring: settings.MALIPO_SECRET_KEYS });
  const mtn = createMtnMomo({
    baseUrl: settings.MALIPO_MTN_MOMO_BASE_URL,
    targetEnvironment: settings.MALIPO_MTN_MOMO_TARGET_ENVIRONMENT,
    callbackUrl: (reference) =>
      `${callbackHost}/operators/mtn-momo/callbacks/${callbackToken('mtn-momo', reference, attestationKeys)}`,
    collection: revealed(collection),
    disbursement: revealed(disbursement),
    requestTimeoutMs: clocks.operatorTimeoutMs,
    connections: settings.MALIPO_MTN_MOMO_CONNECTIONS,
    tokens: { collection: tokensOf('collection'), disbursement: tokensOf('disbursement') },
  });
  return { 'mtn-momo': measuredOperator(mtn, onCalled) };
}

export async function closeOperators(operators: Operators): Promise<void> {
  await Promise.all(Object.values(operators).map((operator) => operator.close()));
}

function revealed({ subscriptionKey, apiUser, apiKey }: NonNullable<Config['mtnMomo']>['collection']) {
  return { subscriptionKey: subscriptionKey.reveal(), apiUser, apiKey: apiKey.reveal() };
}
