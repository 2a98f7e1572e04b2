// An account with an operator: where its API is, which market it serves, and with which credentials we call it.
import { createPublicKey } from 'node:crypto';
import { stateConflict, type DomainError } from '../errors.ts';
import type { Environment } from '../event.ts';
import type { OperatorAccountId, StaffProposalId } from '../ids.ts';
import type { Currency } from '../money.ts';
import { parseWebAddress } from '../web-address.ts';
import { OPERATORS, type OperatorId, type Reach } from './operator-catalogue.ts';

/** What the operator and we agreed on, besides the credentials. */
export type AccountTerms = {
  readonly operator: OperatorId;
  /** ISO 3166-1 alpha-2. Null: every market of the operator, which only a test system serves with one account. */
  readonly country: string | null;
  /** Null: the currencies of all these markets. */
  readonly currency: Currency | null;
  readonly baseUrl: string;
  /** The calls of all our processes together. */
  readonly callsPerSecond: number;
};

export type OperatorAccount = AccountTerms & {
  readonly id: OperatorAccountId;
  /** The credentials that are no secret, by their names: for people. */
  readonly identifiers: Readonly<Record<string, string>>;
  /** The secret credentials as JSON, sealed for the id of the account. */
  readonly credentialsSealed: string;
  /** No payment is accepted for a closed account. What was accepted before is still sent, and asked about. */
  readonly state: 'active' | 'closed';
  /** The last proposal about the account on which two of the staff agreed. */
  readonly proposalId: StaffProposalId;
};

type Credential = {
  /** What people are asked for. */
  readonly text: string;
  /** `shown`: no secret. `file`: people name a file with the content. */
  readonly kind: 'secret' | 'shown' | 'file';
  readonly problemOf?: (value: string) => string | null;
};

const secret = (text: string) => ({ text, kind: 'secret' }) as const;
const shown = (text: string) => ({ text, kind: 'shown' }) as const;
const shortcode = (text: string) => ({ ...shown(text), problemOf: shortcodeProblem });

/** The credentials of each operator, in the order in which people are asked for them. */
export const CREDENTIALS = {
  'mtn-momo': {
    collectionSubscriptionKey: secret('subscription key of the product collection'),
    collectionApiUser: shown('API user of the product collection'),
    collectionApiKey: secret('API key of the product collection'),
    disbursementSubscriptionKey: secret('subscription key of the product disbursement'),
    disbursementApiUser: shown('API user of the product disbursement'),
    disbursementApiKey: secret('API key of the product disbursement'),
  },
  'airtel-money': {
    clientId: shown('client id'),
    clientSecret: secret('client secret'),
    pin: { ...secret('PIN of the wallet from which payouts are paid'), problemOf: pinProblem },
  },
  daraja: {
    consumerKey: shown('consumer key'),
    consumerSecret: secret('consumer secret'),
    shortcode: shortcode('shortcode to which customers pay'),
    passkey: secret('passkey of that shortcode'),
    payoutShortcode: shortcode('shortcode from which payouts are paid'),
    initiatorName: shown('name of the initiator of payouts'),
    initiatorPassword: secret('password of the initiator'),
    certificate: { text: 'file with the certificate of M-Pesa', kind: 'file', problemOf: certificateProblem },
  },
} as const satisfies Readonly<Record<OperatorId, Readonly<Record<string, Credential>>>>;

export type CredentialsOf<Id extends OperatorId> = Readonly<Record<keyof (typeof CREDENTIALS)[Id] & string, string>>;
/** The credentials of any operator, by their names. */
export type Credentials = Readonly<Record<string, string>>;

export function credentialsOf(operator: OperatorId): readonly (readonly [name: string, credential: Credential])[] {
  return Object.entries(CREDENTIALS[operator]);
}

function shortcodeProblem(value: string): string | null {
  return /^\d{5,7}$/.test(value) ? null : 'must have five to seven digits';
}

function pinProblem(value: string): string | null {
  return /^\d{4}$/.test(value) ? null : 'must be four digits';
}

// The test system and the live system have different certificates; their public keys alone are certificates too.
function certificateProblem(pem: string): string | null {
  try {
    if (createPublicKey(pem).asymmetricKeyType === 'rsa') return null;
  } catch {
    // Neither a certificate nor a key.
  }
  return 'must be a certificate of an RSA key, as PEM';
}

/** What is wrong with the value of one credential; null: nothing. */
export function credentialProblem({ text, problemOf }: Credential, value: string): string | null {
  if (value === '') return `the ${text} is missing`;
  const problem = problemOf?.(value) ?? null;
  return problem === null ? null : `the ${text} ${problem}`;
}

/** The hosts of each operator's own systems, and that of its test system: real money moves at all others. */
const HOSTS: Readonly<Record<OperatorId, { readonly own: RegExp; readonly test: RegExp }>> = {
  'mtn-momo': { own: /(^|\.)mtn\.com$/, test: /^sandbox\.momodeveloper\.mtn\.com$/ },
  'airtel-money': { own: /(^|\.)airtel\.[a-z.]+$/, test: /^openapiuat\./ },
  daraja: { own: /(^|\.)safaricom\.(co\.ke|com)$/, test: /^sandbox\.safaricom\.co\.ke$/ },
};

/** The words that an operator refuses in the addresses that we give to it, in upper or lower case. */
const REFUSED_IN_ADDRESSES: Readonly<Partial<Record<OperatorId, RegExp>>> = {
  daraja: /mpesa|m-pesa|safaricom|exe|cmd|sql|query/i,
};

/** What an account must fit. */
export type Deployment = {
  readonly environment: Environment;
  /** Our address for the operator’s callbacks. */
  readonly callbackUrl: string;
};

/** What is wrong with the terms of a new account, or of one that changes; null: nothing. */
export function termsProblem(
  terms: Omit<AccountTerms, 'currency'>,
  { environment, callbackUrl }: Deployment,
): string | null {
  const { operator, country, baseUrl, callsPerSecond } = terms;
  const { name, markets, hasSharedTestSystem } = OPERATORS[operator];
  if (country === null && (environment === 'live' || !hasSharedTestSystem))
    return `an account with ${name} is for one country`;
  if (country !== null && !markets.some((market) => market.country === country)) {
    return `${name} has no market in ${country}; it has ${markets.map((market) => market.country).join(', ')}`;
  }
  if (!Number.isInteger(callsPerSecond) || callsPerSecond < 1 || callsPerSecond > MOST_CALLS_PER_SECOND) {
    return `the calls per second must be 1 to ${MOST_CALLS_PER_SECOND}`;
  }
  const refused = REFUSED_IN_ADDRESSES[operator]?.exec(callbackUrl)?.[0];
  if (refused !== undefined) return `${name} refuses the word "${refused}" in our address ${callbackUrl}`;
  return addressProblem(operator, baseUrl, environment);
}

const MOST_CALLS_PER_SECOND = 10_000;

// A test key must not reach real money, and a live key no test system, which reports payments as paid without money.
function addressProblem(operator: OperatorId, baseUrl: string, environment: Environment): string | null {
  if (parseWebAddress(baseUrl) === null) return 'the base URL must be an http or https address of a valid host';
  const { protocol, hostname } = new URL(baseUrl);
  const { own, test } = HOSTS[operator];
  if (environment === 'live') {
    if (protocol !== 'https:') return 'the base URL must be https in the live environment';
    return test.test(hostname) ? 'the base URL must not be the test system in the live environment' : null;
  }
  const isReal = own.test(hostname) && !test.test(hostname);
  return isReal ? 'the base URL must be no live system in the test environment' : null;
}

/** The currency of an account for this country; null if it is for every market. */
export function currencyOf(operator: OperatorId, country: string | null): Currency | null {
  return OPERATORS[operator].markets.find((market) => market.country === country)?.currency ?? null;
}

/** The markets for which payments are accepted. */
export function reachOf(accounts: readonly Pick<OperatorAccount, 'operator' | 'country' | 'state'>[]): Reach {
  const active = accounts.filter(({ state }) => state === 'active');
  return Object.fromEntries(active.map(({ operator, country }) => [operator, country]));
}

/** The account in one line, for people. */
export function accountText(
  { operator, country, baseUrl, callsPerSecond }: Omit<AccountTerms, 'currency'>,
  identifiers: Credentials,
): string {
  const named = credentialsOf(operator).flatMap(([name, { text }]) => {
    const value = identifiers[name];
    return value === undefined ? [] : [`${text} ${value}`];
  });
  return `${accountName({ operator, country })} at ${baseUrl}, ${callsPerSecond} calls a second; ${named.join(', ')}`;
}

export function accountName({ operator, country }: Pick<AccountTerms, 'operator' | 'country'>): string {
  return `${OPERATORS[operator].name} in ${country ?? 'every market of its test system'}`;
}

/** One error for an unknown id, and for an account that no process of ours wrote as it is. */
export function noOperatorAccount(): DomainError {
  return stateConflict(
    'No account has this id, or the service did not write it as it is. Look it up in the list of accounts.',
  );
}
