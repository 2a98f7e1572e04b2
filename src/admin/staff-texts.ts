// What the terminal says of proposals of the staff, and of the tokens that they give.
import { staffProposalText, type StaffProposal, type StaffProposalKind } from '../domain/accounts/staff-proposal.ts';
import type { DecidedStaffProposal, StaffProposalMade } from '../operations/accounts/staff-proposals.ts';

const ENROLMENT = `            pass it on to that person, and to nobody else; it works once, within 24 hours after the confirmation,
            and is not shown again. They enrol with it and with the token of the other one of you:

  npm run staff -- enrol --name NAME
`;

/** What follows the token of who confirms. A kind without a token has none. */
const TOKEN_NOTES: Readonly<Record<StaffProposalKind, (baseUrl: string) => string>> = {
  staff_addition: () => ENROLMENT,
  staff_reset: () => ENROLMENT,
  staff_end: () => '',
  operator_account_addition: () => '',
  operator_account_rotation: () => '',
  operator_account_closing: () => '',
  recovery_opening: () => '',
  recovery: (baseUrl) => `            it works once, for 24 hours, and is not shown again

The holder of the token sets a new password with it. This removes the second factor and ends every session:

  curl -sS ${baseUrl}/v1/console/recovery --data-urlencode 'token=…' --data-urlencode 'new_password=…'
`,
};

export function proposedText({ id, token }: StaffProposalMade): string {
  return `proposal    ${id}
            another one of the staff must confirm it within 24 hours:

  npm run staff -- confirm --proposal ${id} --as NAME
${token === null ? '' : `\ntoken       ${token}\n${ENROLMENT}`}`;
}

export function decidedText({ proposal, token }: DecidedStaffProposal, done: string, baseUrl: string): string {
  const { kind, proposedBy } = proposal;
  const secret = token === null ? '' : `token       ${token}\n${TOKEN_NOTES[kind](baseUrl)}`;
  return `${done.padEnd(12)}${proposal.id}, proposed by ${proposedBy.name}: ${staffProposalText(proposal)}\n${secret}`;
}

/** One that waits, in one line. */
export function waitingText(proposal: StaffProposal): string {
  const { id, proposedBy, expiresAt } = proposal;
  return `${id}  proposed by ${proposedBy.name}, until ${expiresAt.toISOString()}: ${staffProposalText(proposal)}`;
}
