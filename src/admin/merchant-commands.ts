// The commands of `npm run staff` about merchants and people. Each returns the text that it prints.
import type { z } from 'zod';
import { isId, type MerchantId } from '../domain/ids.ts';
import type { NamedPerson, Role } from '../domain/accounts/member.ts';
import { newToken } from '../security/token.ts';
import { createMerchant } from '../operations/accounts/create-merchant.ts';
import { decideProposal } from '../operations/accounts/decide-proposal.ts';
import { listInvitations } from '../operations/accounts/read-invitations.ts';
import { listMembers, type ListedMember } from '../operations/accounts/list-members.ts';
import { listAllMerchants, listMerchants, type ListedMerchant } from '../db/accounts/merchant.ts';
import type { Database } from '../db/platform/database.ts';
import { reachOf } from '../domain/payments/operator-account.ts';
import { coverageOf, currenciesServed } from '../domain/payments/operator-catalogue.ts';
import { listOperatorAccounts } from '../db/accounts/operator-account.ts';
import type { Currency } from '../domain/money.ts';
import type { ActingDatabase, AttestedDatabase, By } from './server-database.ts';
import { rebuildTotals } from '../operations/payments/rebuild-totals.ts';
import { MAX_SHOWN } from './shown-list.ts';
import type { actOnMerchant, anyMerchant, merchantList, newMerchant, waitingChange } from './staff-options.ts';

export async function createMerchantWithOwners(
  { name, currency, email: emails }: z.infer<typeof newMerchant>,
  { db, baseUrl, by }: By<ActingDatabase>,
): Promise<string> {
  const served = await findCurrenciesServed(db);
  if (served.length === 0) throw new Error('no account with an operator is active: account add makes one');
  if (!served.includes(currency)) {
    throw new Error(`no operator here supports ${currency}; --currency must be one of ${served.join(', ')}`);
  }
  const owners = emails.map((email) => ({ email, ...newToken() }));
  const invited = { by, owners: owners.map(({ email, sha256 }) => ({ email, tokenSha256: sha256 })) };
  const id = await createMerchant(db, { name, currency, invited, at: new Date() });
  const invitations = owners.map(
    ({ email, token }) => `invitation  ${token}
            for ${email}, as owner; it works once, for 7 days, and is not shown again
`,
  );
  return `merchant    ${id}
${invitations.join('')}
The holder of an invitation accepts it with a name and a password of 12 characters or more. A person who already
has an account sends the password of that account, and keeps their name:

  curl -sS ${baseUrl}/v1/console/invitations/accept \\
    --data-urlencode 'token=…' --data-urlencode 'name=…' --data-urlencode 'password=…'
${owners.length === 1 ? `\n${SINGLE_OWNER_WARNING}` : ''}`;
}

async function findCurrenciesServed(db: Database): Promise<Currency[]> {
  return currenciesServed(coverageOf(reachOf(await listOperatorAccounts(db))));
}

const SINGLE_OWNER_WARNING = `\
A single owner can invite another account of their own, and then move money alone. A second owner or admin prevents
this: let the owner invite one first of all, or name two owners here.
`;

/** Of each merchant: its owners, and how much waits for a second person. */
export async function showMerchants(
  { name = '', after = '' }: z.infer<typeof merchantList>,
  { db }: AttestedDatabase,
): Promise<string> {
  const found = await listMerchants(db, { after, name, limit: MAX_SHOWN + 1 });
  if (found.length === 0) return 'there is no such merchant\n';
  const served = await findCurrenciesServed(db);
  const lines: string[] = [];
  for (const merchant of found.slice(0, MAX_SHOWN)) {
    lines.push(await merchantLine(merchant, served.includes(merchant.currency), db));
  }
  const last = found.length > MAX_SHOWN ? `and more: --after ${found[MAX_SHOWN - 1]?.id ?? ''}\n` : '';
  return `${lines.join('')}${last}`;
}

async function merchantLine(
  { id, name, currency, createdAt }: ListedMerchant,
  isServed: boolean,
  db: Database,
): Promise<string> {
  const members = await listMembers(db, id, new Date());
  const owners = members.filter(({ member }) => member.roles.includes('owner'));
  const secured = owners.filter(({ member }) => member.hasSecondFactor).length;
  const waiting = (await waitingLines(id, members, db)).length;
  const people = `${members.length} people, ${owners.length} owners, ${secured} of them with a second factor`;
  const since = createdAt.toISOString().slice(0, 10);
  const notes = [
    ...(waiting === 0 ? [] : [`${waiting} waiting`]),
    ...(isServed ? [] : [`no operator here supports ${currency}`]),
  ];
  return `${id}  ${currency}  ${since}  ${name}: ${[people, ...notes].join('; ')}\n`;
}

/** Of one merchant, or of all. */
export async function showWaitingChanges(
  { merchant }: z.infer<typeof anyMerchant>,
  { db }: AttestedDatabase,
): Promise<string> {
  const lines: string[] = [];
  if (merchant !== undefined) {
    const id = merchant as MerchantId;
    const members = await listMembers(db, id, new Date());
    if (members.length === 0) throw new Error(`there is no merchant ${merchant} with people`);
    lines.push(...(await waitingLines(id, members, db)));
  } else {
    for await (const { id, name } of listAllMerchants(db)) {
      const members = await listMembers(db, id, new Date());
      for (const line of await waitingLines(id, members, db)) lines.push(`${id} (${name})  ${line}`);
    }
  }
  return lines.length === 0 ? 'nothing is waiting\n' : `${lines.join('\n')}\n`;
}

async function waitingLines(merchantId: MerchantId, members: readonly ListedMember[], db: Database): Promise<string[]> {
  const changes = members.flatMap(({ waiting }) =>
    waiting.map(({ change, agreement: { people } }) => {
      const { id, member, before, proposedBy } = change;
      const after = change.after === null ? 'to be removed' : rolesText(change.after);
      return `${id}  ${nameText(member)}: ${rolesText(before)} → ${after}; ${waitText(proposedBy, people)}`;
    }),
  );
  const invitations = (await listInvitations(db, merchantId, new Date())).flatMap(({ invitation, approval }) => {
    if (approval.state !== 'waiting') return [];
    const { id, email, roles, proposedBy } = invitation;
    const wait = waitText(proposedBy, approval.agreement.people);
    return [`${id}  ${email} invited as ${rolesText(roles)}; ${wait}`];
  });
  return [...changes, ...invitations];
}

/** Null: the staff proposed it. */
function waitText(proposer: NamedPerson | null, people: readonly NamedPerson[]): string {
  const names = people.map(nameText).join(', ');
  return `proposed by ${proposer === null ? 'the staff' : nameText(proposer)}, waits for ${names === '' ? 'a second person, but no member can approve it' : names}`;
}

function nameText({ name, email }: NamedPerson): string {
  return `${name} (${email})`;
}

function rolesText(roles: readonly Role[]): string {
  return roles.join(' and ');
}

export async function approveWaitingChange(
  { merchant, change: id }: z.infer<typeof waitingChange>,
  { db, by: staff }: By<ActingDatabase>,
): Promise<string> {
  const by = { serviceFor: merchant as MerchantId, staff };
  const input = { id, decision: 'approved', by, at: new Date() } as const;
  if (isId('mch', id)) {
    const { member, before, after } = (await decideProposal(db, { kind: 'member_change', ...input })).proposal;
    const now = after === null ? 'no longer a member' : rolesText(after);
    return `approved    ${member.name} (${member.id}) was ${rolesText(before)} and is ${now}\n`;
  }
  const { proposal, approvalToken } = await decideProposal(db, { kind: 'invitation', ...input });
  if (approvalToken === null) throw new Error('an approval was recorded as a rejection');
  const { email, roles } = proposal;
  return `approved    the invitation of ${email} as ${rolesText(roles)}
token       ${approvalToken}
            the person sends it as approval_token, in addition to the token of the invitation; hand it to the person
            themselves, and to nobody else. It is not shown again
`;
}

export async function rebuildMerchantTotals(
  { merchant }: z.infer<typeof actOnMerchant>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  await rebuildTotals(db, { merchantId: merchant as MerchantId, by, at: new Date() });
  return 'the totals were counted again\n';
}
