// The commands of `npm run staff` about accounts with operators. Each returns the text that it prints.
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { findOperatorAccount, listOperatorAccounts } from '../db/accounts/operator-account.ts';
import type { OperatorAccountId } from '../domain/ids.ts';
import {
  accountText,
  credentialProblem,
  credentialsOf,
  noOperatorAccount,
  type Credentials,
} from '../domain/payments/operator-account.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import {
  proposeClosing,
  proposeOperatorAccount,
  proposeRotation,
} from '../operations/accounts/propose-operator-account.ts';
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
  { operator, country, ...terms }: z.infer<typeof options.newAccount>,
  { db, by, prompt, operatorKeys: keyRing, deployment }: Sealing,
): Promise<string> {
  const credentials = await askForOperatorCredentials(operator, prompt);
  const named = { operator, country, baseUrl: terms['base-url'], callsPerSecond: terms['calls-per-second'] };
  const given = { credentials, keyRing, deployment, by, at: new Date() };
  return proposedText(await proposeOperatorAccount(db, { terms: named, ...given }));
}

async function proposeOtherCredentials(
  { account, ...terms }: z.infer<typeof options.rotatedAccount>,
  { db, by, prompt, operatorKeys: keyRing, deployment }: Sealing,
): Promise<string> {
  const id = account as OperatorAccountId;
  const found = await findOperatorAccount(db, id);
  if (found === null) throw noOperatorAccount();
  const credentials = await askForOperatorCredentials(found.operator, prompt);
  const { baseUrl, callsPerSecond } = found;
  const changes = {
    baseUrl: terms['base-url'] ?? baseUrl,
    callsPerSecond: terms['calls-per-second'] ?? callsPerSecond,
  };
  const given = { credentials, keyRing, deployment, by, at: new Date() };
  return proposedText(await proposeRotation(db, { id, changes, ...given }));
}

async function proposeToClose(
  { account }: z.infer<typeof options.closedAccount>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  return proposedText(await proposeClosing(db, { id: account as OperatorAccountId, by, at: new Date() }));
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
