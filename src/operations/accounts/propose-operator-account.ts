// Proposals of one of the staff about accounts with operators.
import type { Database } from '../../db/platform/database.ts';
import { findOperatorAccount } from '../../db/accounts/operator-account.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import { invalidParameters } from '../../domain/errors.ts';
import { newId, type OperatorAccountId } from '../../domain/ids.ts';
import {
  credentialProblem,
  credentialsOf,
  currencyOf,
  noOperatorAccount,
  termsProblem,
  type AccountTerms,
  type Credentials,
  type Deployment,
  type OperatorAccount,
} from '../../domain/payments/operator-account.ts';
import { seal, type KeyRing } from '../../security/sealing.ts';
import { proposeAsStaff, type StaffProposalMade } from './staff-proposals.ts';

type Proposing = { readonly by: StaffMember; readonly at: Date };
type Given = Proposing & {
  readonly credentials: Credentials;
  /** Its first key seals the secret credentials. */
  readonly keyRing: KeyRing;
  readonly deployment: Deployment;
};
type Terms = Omit<AccountTerms, 'currency'>;

/**
 * Proposes an account with an operator; the proposal has its credentials sealed. Throws `parameter_invalid` for terms or credentials
 * that cannot be, and `state_conflict` if there is or was an account with the operator. A repeat creates another proposal.
 */
export async function proposeOperatorAccount(
  db: Database,
  { terms, ...given }: Given & { readonly terms: Terms },
): Promise<StaffProposalMade> {
  const account = newId('opa', given.at.getTime());
  const proposed = { kind: 'operator_account_addition', payload: payloadOf(account, terms, given) } as const;
  return proposeAsStaff(db, { proposed, by: given.by, at: given.at });
}

/**
 * Proposes other credentials and other terms for the account, which opens a closed one. Throws `state_conflict` if there is
 * none, also for one that no process of ours wrote, and otherwise as `proposeOperatorAccount`.
 */
export async function proposeRotation(
  db: Database,
  { id, changes, ...given }: Given & { readonly id: OperatorAccountId; readonly changes: Partial<Terms> },
): Promise<StaffProposalMade> {
  const { operator, country, baseUrl, callsPerSecond } = await requireAccount(db, id);
  const terms = { baseUrl, callsPerSecond, ...changes, operator, country };
  const proposed = { kind: 'operator_account_rotation', payload: payloadOf(id, terms, given) } as const;
  return proposeAsStaff(db, { proposed, by: given.by, at: given.at });
}

/** Proposes that the account takes no more payments. Throws `state_conflict` if there is none that is open. */
export async function proposeClosing(
  db: Database,
  { id, by, at }: Proposing & { readonly id: OperatorAccountId },
): Promise<StaffProposalMade> {
  const { operator, country } = await requireAccount(db, id);
  const proposed = { kind: 'operator_account_closing', payload: { account: id, operator, country } } as const;
  return proposeAsStaff(db, { proposed, by, at });
}

async function requireAccount(db: Database, id: OperatorAccountId): Promise<OperatorAccount> {
  const found = await findOperatorAccount(db, id);
  if (found === null) throw noOperatorAccount();
  return found;
}

function payloadOf(account: OperatorAccountId, terms: Terms, { credentials, keyRing, deployment }: Given) {
  const { operator, country, baseUrl, callsPerSecond } = terms;
  const currency = currencyOf(operator, country);
  const faults = credentialsOf(operator).map(([name, field]) => credentialProblem(field, credentials[name] ?? ''));
  const [problem] = [termsProblem(terms, deployment), ...faults].filter((fault) => fault !== null);
  if (problem !== undefined) {
    throw invalidParameters([{ param: 'account', code: 'parameter_invalid', message: problem }]);
  }
  const only = (isShown: boolean): Credentials =>
    Object.fromEntries(
      credentialsOf(operator)
        .filter(([, { kind }]) => (kind === 'shown') === isShown)
        .map(([name]) => [name, credentials[name] ?? '']),
    );
  return {
    ...{ account, operator, country, currency, base_url: baseUrl, calls_per_second: callsPerSecond },
    identifiers: only(true),
    credentials_sealed: seal(JSON.stringify(only(false)), account, keyRing),
  };
}
