// The commands of `npm run staff` about the staff themselves, and about what they propose. Each returns the text that it prints.
import type { z } from 'zod';
import { findStaffByName, listStaff, type ListedStaffMember } from '../db/accounts/staff-member.ts';
import { findStaffProposal, listPendingStaffProposals } from '../db/accounts/staff-proposal.ts';
import { canLogIn, staffMemberInactive } from '../domain/accounts/staff.ts';
import { staffProposalEnded } from '../domain/accounts/staff-proposal.ts';
import type { StaffProposalId } from '../domain/ids.ts';
import { beginStaff, checkStaffEnrolment, enrolStaff, staffBegun } from '../operations/accounts/enrol-staff.ts';
import { decideOnStaffProposal, proposeAsStaff } from '../operations/accounts/staff-proposals.ts';
import type { ActingDatabase, AttestedDatabase, By } from './server-database.ts';
import { MAX_SHOWN, shownList } from './shown-list.ts';
import { askForCredentials } from './staff-credentials.ts';
import type { SecretPrompt } from './secret-prompt.ts';
import type { decidedProposal, enrolledStaff, firstStaff, namedStaff } from './staff-options.ts';
import { decidedText, proposedText, waitingText } from './staff-texts.ts';

type Prompting = ActingDatabase & { readonly prompt: SecretPrompt };

export async function showStaff({ db }: AttestedDatabase): Promise<string> {
  const found = await listStaff(db);
  return found.length === 0 ? 'there is no staff yet: npm run staff -- begin\n' : found.map(staffLine).join('');
}

function staffLine(member: ListedStaffMember): string {
  const { id, name, createdAt, endedAt, addedByName, confirmedByName } = member;
  const since = createdAt.toISOString().slice(0, 10);
  const origin = addedByName === null ? 'one of the first two' : `added by ${addedByName} and ${confirmedByName ?? ''}`;
  const state =
    endedAt === null
      ? canLogIn(member)
        ? 'can log in'
        : 'has not enrolled'
      : `ended ${endedAt.toISOString().slice(0, 10)}`;
  return `${id}  ${name}: ${state}; since ${since}, ${origin}\n`;
}

export async function beginWithTwo(
  { name: names }: z.infer<typeof firstStaff>,
  { db, secretKeys: keyRing, prompt }: Prompting,
): Promise<string> {
  // Before anybody is asked for anything; the operation makes sure.
  if ((await listStaff(db)).length > 0) throw staffBegun();
  const [one, other] = names;
  const first = { name: one, ...(await askForCredentials(one, prompt)) };
  const second = { name: other, ...(await askForCredentials(other, prompt)) };
  const made = await beginStaff(db, { founders: [first, second], keyRing, at: new Date() });
  return `${made.map(({ id, name }) => `staff       ${id}, ${name}\n`).join('')}
Add a third one now. If one of two loses the phone, the other one alone cannot let them in again:

  npm run staff -- add --name NAME --as ${one}
`;
}

export async function proposeAddition(
  { name }: z.infer<typeof namedStaff>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  const proposed = { kind: 'staff_addition', payload: { name } } as const;
  return proposedText(await proposeAsStaff(db, { proposed, by, at: new Date() }));
}

export async function proposeForMember(
  kind: 'staff_reset' | 'staff_end',
  { name }: z.infer<typeof namedStaff>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  const found = await findStaffByName(db, name);
  if (found === null) throw staffMemberInactive({ name });
  const proposed = { kind, payload: { member: found.id, name } };
  return proposedText(await proposeAsStaff(db, { proposed, by, at: new Date() }));
}

export async function enrolOneself(
  { name }: z.infer<typeof enrolledStaff>,
  { db, secretKeys: keyRing, prompt }: Prompting,
): Promise<string> {
  const one = (await prompt.ask('token from one of the two who agreed on you')).trim();
  const other = (await prompt.ask('token from the other one')).trim();
  const tokens = [one, other] as const;
  await checkStaffEnrolment(db, { name, tokens, at: new Date() });
  const credentials = await askForCredentials(name, prompt);
  const { id } = await enrolStaff(db, { name, tokens, ...credentials, keyRing, at: new Date() });
  return `enrolled    ${id}, ${name}\n`;
}

export async function showProposals({ db }: AttestedDatabase): Promise<string> {
  const texts = { none: 'no proposal is waiting', more: 'and more: these are the oldest' };
  return shownList(await listPendingStaffProposals(db, new Date(), MAX_SHOWN + 1), texts, waitingText);
}

/** What the person is about to decide, before they log in for it. */
export async function announceProposal(
  { proposal: id }: z.infer<typeof decidedProposal>,
  { db }: AttestedDatabase,
): Promise<string> {
  const proposal = await findStaffProposal(db, id as StaffProposalId);
  if (proposal === null) throw staffProposalEnded();
  return `${waitingText(proposal)}\n`;
}

export async function decideProposal(
  decision: 'confirmed' | 'rejected',
  { proposal }: z.infer<typeof decidedProposal>,
  { db, baseUrl, by }: By<ActingDatabase>,
): Promise<string> {
  const input = { id: proposal as StaffProposalId, decision, by, at: new Date() };
  return decidedText(await decideOnStaffProposal(db, input), decision, baseUrl);
}
