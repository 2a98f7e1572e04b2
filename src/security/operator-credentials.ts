// The credentials of accounts with operators: sealed in a proposal and in the row that follows from it, opened where an operator is called.
import type { ProposedAccount } from '../domain/accounts/staff-proposal.ts';
import { invalidParameters } from '../domain/errors.ts';
import type { OperatorAccountId } from '../domain/ids.ts';
import {
  CREDENTIALS,
  credentialProblem,
  credentialsOf,
  currencyOf,
  termsProblem,
  type AccountTerms,
  type Credentials,
  type CredentialsOf,
  type Deployment,
  type OperatorAccount,
} from '../domain/payments/operator-account.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { open, seal, type KeyRing } from './sealing.ts';

export type GivenAccount = {
  readonly id: OperatorAccountId;
  readonly terms: Omit<AccountTerms, 'currency'>;
  readonly credentials: Credentials;
  /** Its first key seals. */
  readonly keyRing: KeyRing;
  readonly deployment: Deployment;
};

/** The account as it is proposed, with its secrets sealed. Throws `parameter_invalid` for terms or credentials that cannot be. */
export function sealAccount({ id, terms, credentials, keyRing, deployment }: GivenAccount): ProposedAccount {
  const { operator, country, baseUrl, callsPerSecond } = terms;
  const fields = credentialsOf(operator);
  const problems = [
    termsProblem(terms, deployment),
    ...fields.map(([name, credential]) => credentialProblem(credential, credentials[name] ?? '')),
  ];
  const problem = problems.find((each) => each !== null);
  if (problem !== undefined) {
    throw invalidParameters([{ param: 'account', code: 'parameter_invalid', message: problem }]);
  }
  const only = (isShown: boolean): Credentials =>
    Object.fromEntries(
      fields.filter(([, { kind }]) => (kind === 'shown') === isShown).map(([name]) => [name, credentials[name] ?? '']),
    );
  return {
    ...{ account: id, operator, country, currency: currencyOf(operator, country) },
    ...{ base_url: baseUrl, calls_per_second: callsPerSecond },
    identifiers: only(true),
    credentials_sealed: seal(JSON.stringify(only(false)), id, keyRing),
  };
}

/** Throws if no key of the ring opens them, or one is missing. */
export function openCredentials<Id extends OperatorId>(
  operator: Id,
  { id, identifiers, credentialsSealed }: Pick<OperatorAccount, 'id' | 'identifiers' | 'credentialsSealed'>,
  keyRing: KeyRing,
): CredentialsOf<Id> {
  const secrets = JSON.parse(open(credentialsSealed, id, keyRing)) as Credentials;
  const found: Credentials = { ...identifiers, ...secrets };
  const missing = Object.keys(CREDENTIALS[operator]).filter((name) => found[name] === undefined);
  if (missing.length > 0) throw new Error(`the account lacks ${missing.join(', ')}`);
  return found;
}
