// Proposals of one of the staff, and the decisions of another one.
import { recordStaffAct } from '../../db/accounts/audit.ts';
import { lockStaff, requireStaff } from '../../db/accounts/staff-member.ts';
import { confirmStaffProposal, checkStaffProposal } from '../../db/accounts/staff-proposal-kinds.ts';
import { decideStaffProposal, findStaffProposal, insertStaffProposal } from '../../db/accounts/staff-proposal.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { stateConflict } from '../../domain/errors.ts';
import { newId, type StaffProposalId } from '../../domain/ids.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import {
  auditedProposal,
  STAFF_PROPOSAL_LIFE_MS,
  staffProposalEnded,
  TOKENS_OF,
  type Proposed,
  type StaffProposal,
} from '../../domain/accounts/staff-proposal.ts';
import { newToken } from '../../security/token.ts';

export type ProposeAsStaff = { readonly proposed: Proposed; readonly by: StaffMember; readonly at: Date };

export type StaffProposalMade = {
  readonly id: StaffProposalId;
  readonly expiresAt: Date;
  /** The proposer's token for the person concerned, shown this once. Null: this kind has none. */
  readonly token: string | null;
};

/**
 * The proposal, which has no effect until another one of the staff confirms it within 24 hours. Throws `state_conflict`
 * if it could not be confirmed now, or the proposer was ended or reset since. A repeat creates another proposal.
 */
export async function proposeAsStaff(db: Database, { proposed, by, at }: ProposeAsStaff): Promise<StaffProposalMade> {
  const { kind } = proposed;
  const token = TOKENS_OF[kind] === 'both' ? newToken() : null;
  const id = newId('spr', at.getTime());
  const expiresAt = new Date(at.getTime() + STAFF_PROPOSAL_LIFE_MS);
  await db.withTransaction(async (tx) => {
    await lockStaff(tx);
    await requireStaff(tx, by);
    const row = { id, by, tokenSha256: token?.sha256 ?? null, createdAt: at, expiresAt };
    await insertStaffProposal(tx, { ...proposed, ...row });
    await checkStaffProposal(tx, proposed, { by, at, expiresAt });
    const after = { ...auditedProposal(proposed), expires_at: expiresAt };
    await recordStaffAct(tx, null, by, { action: 'staff_proposal.made', subjectId: id, after, at });
  });
  return { id, expiresAt, token: token?.token ?? null };
}

export type DecideStaffProposal = {
  readonly id: StaffProposalId;
  readonly decision: 'confirmed' | 'rejected';
  readonly by: StaffMember;
  readonly at: Date;
};

export type DecidedStaffProposal = {
  readonly proposal: StaffProposal;
  /** The confirmer's token for the person concerned, shown this once. Null: this kind has none, or it was rejected. */
  readonly token: string | null;
};

/**
 * Confirms the proposal and applies it in the same transaction, or rejects it, which the proposer may do too. Of two
 * concurrent decisions, one applies. Throws `state_conflict` for a proposal that was decided, has expired or that no
 * process of ours wrote, for a confirmation by the proposer, for a proposer or decider who can no longer log in, and if
 * it can no longer be applied. Then nothing changes, so a repeat is safe. The database also refuses the first four.
 */
export async function decideOnStaffProposal(db: Database, input: DecideStaffProposal): Promise<DecidedStaffProposal> {
  const { id, decision, by, at } = input;
  return db.withTransaction(async (tx) => {
    await lockStaff(tx);
    await requireStaff(tx, by);
    const proposal = await findStaffProposal(tx, id);
    if (proposal?.state !== 'pending' || proposal.expiresAt <= at) throw staffProposalEnded();
    const isConfirmed = decision === 'confirmed';
    if (isConfirmed) await requireConfirmable(tx, proposal, by);
    const token = isConfirmed && TOKENS_OF[proposal.kind] !== 'none' ? newToken() : null;
    const tokenSha256 = token?.sha256 ?? null;
    if (!(await decideStaffProposal(tx, id, { state: decision, by, at, tokenSha256 }))) throw staffProposalEnded();
    if (isConfirmed) await confirmStaffProposal(tx, proposal, { by, at, tokenSha256 });
    const after = { ...auditedProposal(proposal), proposed_by: proposal.proposedBy };
    await recordStaffAct(tx, null, by, { action: `staff_proposal.${decision}`, subjectId: id, after, at });
    return { proposal, token: token?.token ?? null };
  });
}

async function requireConfirmable(tx: Tx, { proposedBy }: StaffProposal, by: StaffMember): Promise<void> {
  if (proposedBy.id === by.id) throw stateConflict('The proposer cannot confirm it. Another one of the staff must.');
  await requireStaff(tx, proposedBy);
}
