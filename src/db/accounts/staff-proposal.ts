// Rows of staff proposals, which another one of the staff confirms.
import type { StaffId, StaffProposalId } from '../../domain/ids.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import type { Proposed, StaffProposal } from '../../domain/accounts/staff-proposal.ts';
import { recordStaffAct } from './audit.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { insertion } from '../platform/columns.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';
import { listStaff } from './staff-member.ts';

const attestedProposals = attestedTable('staff_proposals');

const insert = insertion(
  'staff_proposal_insert',
  'staff_proposals',
  'id, kind, payload, state, proposed_by, token_sha256, created_at, expires_at',
);

export type NewStaffProposal = Proposed & {
  readonly id: StaffProposalId;
  readonly by: StaffMember;
  /** The digest of the proposer's token; null: none. */
  readonly tokenSha256: Buffer | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export async function insertStaffProposal(tx: Tx, { by, payload, ...proposal }: NewStaffProposal): Promise<void> {
  await insert(tx, { ...proposal, payload: JSON.stringify(payload), state: 'pending', proposedBy: by.id });
  await attestedProposals.attest(tx, [proposal.id]);
}

type ProposalRow = AttestedRow<'staff_proposals'> &
  Omit<StaffProposal, 'proposedBy' | 'decidedBy'> & {
    readonly proposedBy: StaffId;
    readonly decidedBy: StaffId | null;
  };

const SELECT = `SELECT ${attestedProposals.columns} FROM staff_proposals t`;

const LIST_PENDING = statement('staff_proposal_list_pending')`
  ${SELECT} WHERE t.state = 'pending' AND t.expires_at > $1 ORDER BY t.id LIMIT $2`;

/** The pending proposals, oldest first, at most `limit`, without unattested ones. */
export async function listPendingStaffProposals(db: Queryable, at: Date, limit: number): Promise<StaffProposal[]> {
  const rows = await db.run<ProposalRow>(LIST_PENDING, [at, limit]);
  return withNames(db, attestedProposals.only(db, rows));
}

const FIND = statement('staff_proposal_find')`${SELECT} WHERE t.id = $1`;

/** Null also for an unattested row. */
export async function findStaffProposal(db: Queryable, id: StaffProposalId): Promise<StaffProposal | null> {
  const row = await findOne<ProposalRow>(db, FIND, [id]);
  if (row === null || !attestedProposals.isAttested(db, row)) return null;
  return (await withNames(db, [row]))[0] ?? null;
}

// From attested rows only: people base their decisions on these names.
async function withNames(db: Queryable, rows: readonly ProposalRow[]): Promise<StaffProposal[]> {
  const staff = new Map((await listStaff(db)).map(({ id, name }) => [id, { id, name }]));
  return rows.flatMap((row) => {
    const proposedBy = staff.get(row.proposedBy);
    const decidedBy = row.decidedBy === null ? null : staff.get(row.decidedBy);
    return proposedBy === undefined || decidedBy === undefined
      ? []
      : [{ ...row, proposedBy, decidedBy } as StaffProposal];
  });
}

const DECIDE = statement('staff_proposal_decide')`
  UPDATE staff_proposals SET state = $2, decided_by = $3, decided_at = $4, confirmation_sha256 = $5
  WHERE id = $1 AND state = 'pending' RETURNING 1`;

export type StaffDecision = {
  readonly state: 'confirmed' | 'rejected';
  readonly by: StaffMember;
  readonly at: Date;
  /** The digest of the confirmer's token; null: none. */
  readonly tokenSha256: Buffer | null;
};

/** False if it was already decided. The database refuses a confirmation by the proposer, and one after the expiry. */
export async function decideStaffProposal(
  tx: Tx,
  id: StaffProposalId,
  { state, by, at, tokenSha256 }: StaffDecision,
): Promise<boolean> {
  const decide = () => tx.run(DECIDE, [id, state, by.id, at, tokenSha256]);
  return (await attestedProposals.change(tx, [id], decide)).length === 1;
}

const LIST_PENDING_BY = statement('staff_proposal_list_pending_by')`
  ${SELECT} WHERE t.state = 'pending' AND t.proposed_by = $1 ORDER BY t.id`;

/** Rejects every pending proposal of the person, each with an entry in the audit log. */
export async function rejectProposalsOf(
  tx: Tx,
  proposer: StaffId,
  { by, at }: { readonly by: StaffMember; readonly at: Date },
): Promise<void> {
  // An unattested one cannot be confirmed in any case.
  for (const row of attestedProposals.only(tx, await tx.run<ProposalRow>(LIST_PENDING_BY, [proposer]))) {
    const id = row.id as StaffProposalId;
    await decideStaffProposal(tx, id, { state: 'rejected', by, at, tokenSha256: null });
    const after = { reason: 'its proposer was ended or reset' };
    await recordStaffAct(tx, null, by, { action: 'staff_proposal.rejected', subjectId: id, after, at });
  }
}

const MATCHES_TOKENS = statement('staff_proposal_matches_tokens')`
  SELECT 1 FROM staff_proposals t
  WHERE t.id = $1 AND t.state = 'confirmed' AND t.token_sha256 = $2 AND t.confirmation_sha256 = $3 AND t.decided_at > $4`;

/** Whether these are the digests of its two tokens and it was confirmed after that time. Verify the row as well. */
export async function hasTokens(
  tx: Tx,
  id: StaffProposalId,
  [first, second]: readonly [Buffer, Buffer],
  confirmedSince: Date,
): Promise<boolean> {
  return (await tx.run(MATCHES_TOKENS, [id, first, second, confirmedSince])).length === 1;
}
