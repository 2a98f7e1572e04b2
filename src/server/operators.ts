// The operators of a server: their adapters, which only a worker has, and the references in their callbacks.
import type { Config } from '../settings/config.ts';
import type { Queryable } from '../db/platform/database.ts';
import { operatorTokens } from '../db/work/operator-tokens.ts';
import type { StaffProposalId } from '../domain/ids.ts';
import type { Product } from '../domain/payments/breaker.ts';
import type { CredentialsOf, OperatorAccount } from '../domain/payments/operator-account.ts';
import { marketOf, OPERATOR_IDS, type OperatorId } from '../domain/payments/operator-catalogue.ts';
import type { Log } from '../log.ts';
import { createAirtelMoney, parseAirtelCallback } from '../operators/airtel-money/airtel-money.ts';
import { createDaraja } from '../operators/daraja/daraja.ts';
import { readMessage } from '../operators/daraja/messages.ts';
import { createMtnMomo, parseMtnCallback } from '../operators/mtn-momo/mtn-momo.ts';
import { targetEnvironmentOf } from '../operators/mtn-momo/target-environment.ts';
import { absentOperator } from '../operators/absent-operator.ts';
import type { Operator } from '../operators/port.ts';
import type { TokenStore } from '../operators/token-cache.ts';
import { callbackToken, messagePath } from '../security/callback-token.ts';
import { openCredentials } from '../security/operator-credentials.ts';
import { measuredOperator, type MeasuredCall } from './metrics/measured-calls.ts';
import type { OperatorAccountWatch } from './operator-accounts.ts';

/** Each is the adapter of the present account. Take it again for every call: credentials may have changed. */
export type Operators = Readonly<Record<OperatorId, Operator>>;

/** The reference in a callback of each operator, or null if it has none. Requires no credentials. */
export const PARSE_CALLBACK: Readonly<Record<OperatorId, Operator['parseCallback']>> = {
  'mtn-momo': parseMtnCallback,
  'airtel-money': parseAirtelCallback,
  // What names one of its payments comes to an address of that payment.
  daraja: () => null,
};

const READ_MESSAGE: Readonly<Record<OperatorId, Operator['readMessage']>> = {
  'mtn-momo': null,
  'airtel-money': null,
  daraja: readMessage,
};

type Around = {
  readonly settings: Config['settings'];
  readonly requestTimeoutMs: number;
  readonly tokensOf: (product: Product) => TokenStore;
};

/** How the adapter of each operator is created from its account. */
const ADAPTERS: {
  readonly [Id in OperatorId]: (account: OperatorAccount, credentials: CredentialsOf<Id>, around: Around) => Operator;
} = {
  'mtn-momo': ({ baseUrl, country }, credentials, { settings, requestTimeoutMs, tokensOf }) =>
    createMtnMomo({
      baseUrl,
      targetEnvironment: targetEnvironmentOf(country, settings.MALIPO_ENVIRONMENT),
      callbackUrl(reference) {
        const token = callbackToken('mtn-momo', reference, settings.MALIPO_ATTESTATION_KEYS);
        return `${callbackHostIn(settings)}/operators/mtn-momo/callbacks/${token}`;
      },
      collection: {
        subscriptionKey: credentials.collectionSubscriptionKey,
        apiUser: credentials.collectionApiUser,
        apiKey: credentials.collectionApiKey,
      },
      disbursement: {
        subscriptionKey: credentials.disbursementSubscriptionKey,
        apiUser: credentials.disbursementApiUser,
        apiKey: credentials.disbursementApiKey,
      },
      requestTimeoutMs,
      connections: settings.MALIPO_OPERATOR_CONNECTIONS,
      tokens: { collection: tokensOf('collection'), disbursement: tokensOf('disbursement') },
    }),
  'airtel-money': ({ baseUrl, country }, { clientId, clientSecret, pin }, { settings, requestTimeoutMs, tokensOf }) =>
    createAirtelMoney({
      baseUrl,
      credentials: { clientId, clientSecret },
      pin,
      market: marketOf('airtel-money', country ?? ''),
      requestTimeoutMs,
      connections: settings.MALIPO_OPERATOR_CONNECTIONS,
      // One account has one token for both products.
      tokens: tokensOf('collection'),
    }),
  daraja({ baseUrl }, { consumerKey, consumerSecret, ...party }, { settings, requestTimeoutMs, tokensOf }) {
    const keys = settings.MALIPO_ATTESTATION_KEYS;
    return createDaraja({
      ...party,
      baseUrl,
      credentials: { consumerKey, consumerSecret },
      addressOf: (purpose, reference, queryId) =>
        callbackHostIn(settings) + messagePath('daraja', purpose, queryId ?? reference, keys),
      requestTimeoutMs,
      connections: settings.MALIPO_OPERATOR_CONNECTIONS,
      // One application has one token for both products.
      tokens: tokensOf('collection'),
    });
  },
};

function callbackHostIn({ MALIPO_CALLBACK_URL, MALIPO_PUBLIC_URL }: Config['settings']): string {
  return (MALIPO_CALLBACK_URL ?? MALIPO_PUBLIC_URL).replace(/\/$/, '');
}

type OperatorsOptions = {
  readonly config: Config;
  /** Has the tokens shared by all processes. */
  readonly db: Queryable;
  readonly accounts: Pick<OperatorAccountWatch, 'find'>;
  readonly onCalled: (call: MeasuredCall) => void;
  readonly log: Log;
};

type Kept = { readonly proposalId: StaffProposalId; readonly adapter: Operator };

/**
 * The adapters of the accounts as they are now: one whose credentials changed is replaced, and closed once its calls have ended. An
 * operator without an account, or with one that our keys do not open, is absent.
 */
export function createOperators({ config, db, accounts, onCalled, log }: OperatorsOptions) {
  const { settings, clocks } = config;
  const absent = byOperator((id) =>
    absentOperator(id, { parseCallback: PARSE_CALLBACK[id], readMessage: READ_MESSAGE[id] }),
  );
  const kept = new Map<OperatorId, Kept>();
  const replaced = new Map<Operator, NodeJS.Timeout>();

  function create(account: OperatorAccount): Operator {
    const { id, operator, proposalId } = account;
    const tokensOf = (product: Product) =>
      operatorTokens(db, { operator, product, proposalId, ring: settings.MALIPO_SECRET_KEYS });
    try {
      const around = { account, settings, requestTimeoutMs: clocks.operatorTimeoutMs, tokensOf };
      return measuredOperator(createAdapter(operator, ADAPTERS[operator], around), onCalled);
    } catch (error) {
      log.error({ error, id, operator }, 'the credentials of an account cannot be used');
      return absent[operator];
    }
  }

  function retire(adapter: Operator): void {
    const end = () => {
      replaced.delete(adapter);
      adapter.close().catch((error: unknown) => {
        log.warn({ error }, 'the connections of an account that was replaced were not closed');
      });
    };
    replaced.set(adapter, setTimeout(end, 2 * clocks.operatorTimeoutMs));
  }

  function current(operator: OperatorId): Operator {
    const account = accounts.find(operator);
    const before = kept.get(operator);
    if (before !== undefined && before.proposalId === account?.proposalId) return before.adapter;
    if (before !== undefined) retire(before.adapter);
    kept.delete(operator);
    if (account === undefined) return absent[operator];
    const adapter = create(account);
    kept.set(operator, { proposalId: account.proposalId, adapter });
    return adapter;
  }

  const operators = {} as Record<OperatorId, Operator>;
  for (const id of OPERATOR_IDS) Object.defineProperty(operators, id, { enumerable: true, get: () => current(id) });
  return {
    operators: operators as Operators,
    async close(): Promise<void> {
      for (const timer of replaced.values()) clearTimeout(timer);
      const adapters = [...replaced.keys(), ...[...kept.values()].map(({ adapter }) => adapter)];
      await Promise.all(adapters.map((adapter) => adapter.close()));
    },
  };
}

function createAdapter<Id extends OperatorId>(
  operator: Id,
  adapter: (typeof ADAPTERS)[Id],
  { account, ...around }: Around & { readonly account: OperatorAccount },
): Operator {
  const { MALIPO_OPERATOR_KEYS: ring } = around.settings;
  if (ring === undefined) throw new Error('MALIPO_OPERATOR_KEYS is not set');
  return adapter(account, openCredentials(operator, account, ring), around);
}

function byOperator<Value>(valueOf: (id: OperatorId) => Value): Record<OperatorId, Value> {
  return Object.fromEntries(OPERATOR_IDS.map((id) => [id, valueOf(id)])) as Record<OperatorId, Value>;
}
