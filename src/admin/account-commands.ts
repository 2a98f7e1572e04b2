// The commands of `npm run staff` about accounts with operators. Each returns the text that it prints.
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { findOperatorAccount, listOperatorAccounts } from '../db/accounts/operator-account.ts';
import type { ProposedAccount } from '../domain/accounts/staff-proposal.ts';
import { newId, type OperatorAccountId } from '../domain/ids.ts';
import {
  accountText,
  credentialProblem,
  credentialsOf,
  noOperatorAccount,
  type Credentials,
  type OperatorAccount,
} from '../domain/payments/operator-account.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { proposeAsStaff } from '../operations/accounts/staff-proposals.ts';
import { sealAccount, type GivenAccount } from '../security/operator-credentials.ts';
import type { SecretPrompt } from './secret-prompt.ts';
import type { ActingDatabase, AttestedDatabase, By, SealingDatabase } from './server-database.ts';
import { actsOn, readsOn, type Acting, type StaffCommand } from './staff-command.ts';
import * as options from './staff-options.ts';
import { proposedText } from './staff-texts.ts';

type Sealing = Acting<SealingDatabase>;

/** Unattested ones are left out, and named on standard error. */
async function showAccounts({ db }: AttestedDatabase): Promise<string> {
  const found = await listOperatorAccounts(db);
  if (found.length === 0) return 'there is no account with an operator\n';
  return found
    .map((account) => `${account.id}  ${account.state}: ${accountText(account, account.identifiers)}\n`)
    .join('');
}

async function proposeNewAccount(
  { operator, country, ...chosen }: z.infer<typeof options.newAccount>,
  server: Sealing,
): Promise<string> {
  const at = new Date();
  const terms = { operator, country, baseUrl: chosen['base-url'], callsPerSecond: chosen['calls-per-second'] };
  const payload = await sealedAccount({ id: newId('opa', at.getTime()), terms }, server);
  const proposed = { kind: 'operator_account_addition', payload } as const;
  return proposedText(await proposeAsStaff(server.db, { proposed, by: server.by, at }));
}

async function proposeOtherCredentials(
  { account, ...chosen }: z.infer<typeof options.rotatedAccount>,
  server: Sealing,
): Promise<string> {
  const { id, operator, country, ...found } = await requireAccount(account, server);
  const baseUrl = chosen['base-url'] ?? found.baseUrl;
  const callsPerSecond = chosen['calls-per-second'] ?? found.callsPerSecond;
  const payload = await sealedAccount({ id, terms: { operator, country, baseUrl, callsPerSecond } }, server);
  const proposed = { kind: 'operator_account_rotation', payload } as const;
  return proposedText(await proposeAsStaff(server.db, { proposed, by: server.by, at: new Date() }));
}

async function proposeToClose(
  { account }: z.infer<typeof options.closedAccount>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  const { id, operator, country } = await requireAccount(account, { db });
  const proposed = { kind: 'operator_account_closing', payload: { account: id, operator, country } } as const;
  return proposedText(await proposeAsStaff(db, { proposed, by, at: new Date() }));
}

async function requireAccount(id: string, { db }: Pick<AttestedDatabase, 'db'>): Promise<OperatorAccount> {
  const found = await findOperatorAccount(db, id as OperatorAccountId);
  if (found === null) throw noOperatorAccount();
  return found;
}

/** Asks for the credentials. */
async function sealedAccount(
  given: Pick<GivenAccount, 'id' | 'terms'>,
  { prompt, operatorKeys: keyRing, deployment }: Sealing,
): Promise<ProposedAccount> {
  const credentials = await askForOperatorCredentials(given.terms.operator, prompt);
  return sealAccount({ ...given, credentials, keyRing, deployment });
}

/** Throws at the first one that cannot be. */
async function askForOperatorCredentials(operator: OperatorId, prompt: SecretPrompt): Promise<Credentials> {
  const found: Record<string, string> = {};
  for (const [name, credential] of credentialsOf(operator)) {
    const answer = (await prompt.ask(credential.text)).trim();
    const value = credential.kind === 'file' && answer !== '' ? readFileSync(answer, 'utf8') : answer;
    const problem = credentialProblem(credential, value);
    if (problem !== null) throw new Error(problem);
    found[name] = value;
  }
  return found;
}

const seals = actsOn('database, all keys and operator keys');

const ASKED = `After the log-in it asks for each credential: at a terminal without showing it, otherwise a line of standard input each.
The certificate of M-Pesa is asked for by the name of its file. Nothing but the sealed credentials is stored.`;

/** By name, in the order of the help page. */
export const ACCOUNT_COMMANDS: Readonly<Record<string, StaffCommand>> = {
  'account list': readsOn('database and keys')({
    usage: '',
    summary: 'the accounts with operators',
    help: `Shows each account with an operator: its market, address, calls per second, and the credentials that are no secret. Rows
that the service did not write are left out, and named.`,
    takes: options.nothing,
    run: (_none, server) => showAccounts(server),
  }),
  'account add': seals({
    usage: '--operator ID --country CODE --base-url ADDRESS --calls-per-second NUMBER --as NAME',
    summary: 'propose an account with an operator',
    help: `Proposes an account with an operator. Another one of the staff must confirm it within 24 hours. Within seconds every process
accepts payments for it, without a restart. There is one account with each operator.
${ASKED}`,
    takes: options.newAccount,
    run: proposeNewAccount,
  }),
  'account rotate': seals({
    usage: '--account ID [--base-url ADDRESS] [--calls-per-second NUMBER] --as NAME',
    summary: 'propose other credentials for an account, or open a closed one',
    help: `Proposes other credentials of the same account, and another address or number of calls. Another one of the staff must confirm
it within 24 hours; within seconds every process calls with them. It opens a closed account again.
${ASKED}`,
    takes: options.rotatedAccount,
    run: proposeOtherCredentials,
  }),
  'account close': actsOn('database and all keys')({
    usage: '--account ID --as NAME',
    summary: 'propose that an account takes no more payments',
    help: `Proposes that an account takes no more payments. Another one of the staff must confirm it within 24 hours. Payments that were
accepted before are still sent and asked about; breaker open stops every call.`,
    takes: options.closedAccount,
    run: proposeToClose,
  }),
};
