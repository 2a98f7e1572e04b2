// Rows of proposals: invitations, and changes of members or of the policy, with the decisions on them.
import { isId, type InvitationId, type MerchantId, type UserId } from '../../domain/ids.ts';
import type { NamedPerson } from '../../domain/accounts/member.ts';
import type { Decider } from '../../domain/accounts/member-change.ts';
import {
  isOpen,
  PROPOSAL_ID_PREFIXES,
  type Invitation,
  type MemberChange,
  type PolicyChange,
  type Proposal,
  type ProposalKind,
  type ProposalOf,
} from '../../domain/accounts/proposal.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { recordDecision } from './audit.ts';
import { findOne, statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';
import { personColumn } from './names.ts';
import { requireAttestedPeople, withAttestedPeople } from './user.ts';

const attestedProposals = attestedTable('proposals');

const INSERT = statement('proposal_insert')`
  INSERT INTO proposals (id, kind, merchant_id, state, proposed_by, created_at, expires_at,
                         email, token_sha256, user_id, roles_before, roles, changes)
  VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

type NewInvitation = Pick<Invitation, 'kind' | 'id' | 'email' | 'roles'> & { readonly tokenSha256: Buffer };
type NewMemberChange = Pick<MemberChange, 'kind' | 'id' | 'before' | 'after'> & { readonly userId: UserId };
type NewPolicyChange = Pick<PolicyChange, 'kind' | 'id' | 'changes'>;

export type NewProposal = (NewInvitation | NewMemberChange | NewPolicyChange) & {
  readonly merchantId: MerchantId;
  /** Null for an invitation by the service's staff. */
  readonly proposedBy: UserId | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export async function insertProposal(tx: Tx, proposal: NewProposal): Promise<void> {
  const { id, kind, merchantId, proposedBy, createdAt, expiresAt } = proposal;
  await tx.run(INSERT, [id, kind, merchantId, proposedBy, createdAt, expiresAt, ...whatIsProposed(proposal)]);
  await attestedProposals.attest(tx, [id]);
}

function whatIsProposed(proposal: NewProposal): readonly unknown[] {
  switch (proposal.kind) {
    case 'invitation':
      return [proposal.email, proposal.tokenSha256, null, null, proposal.roles, null];
    case 'member_change':
      return [null, null, proposal.userId, proposal.before, proposal.after, null];
    case 'policy_change':
      return [null, null, null, null, null, JSON.stringify(proposal.changes)];
  }
}

const SELECT = `SELECT ${attestedProposals.columns}, ${personColumn('p')} AS proposer, ${personColumn('d')} AS decider,
    ${personColumn('m')} AS member
  FROM proposals t LEFT JOIN users p ON p.id = t.proposed_by LEFT JOIN users d ON d.id = t.decided_by
    LEFT JOIN users m ON m.id = t.user_id AND t.kind = 'member_change'`;
const CAN_CHANGE = "(t.state = 'pending' OR (t.kind = 'invitation' AND t.state = 'approved'))";

type People = Readonly<Record<'proposer' | 'decider' | 'member', NamedPerson | null>>;
type ProposalRow = AttestedRow<'proposals'> & People;

function toProposal<Kind extends ProposalKind>(row: ProposalRow): ProposalOf<Kind> {
  const { id, kind, merchantId, state, proposer, createdAt, expiresAt, decider, decidedAt } = row;
  const { email, member, rolesBefore, roles, changes } = row;
  const proposed = {
    invitation: { email, roles },
    member_change: { member, before: rolesBefore, after: roles },
    policy_change: { changes },
  }[kind as Kind];
  const common = { id, kind, merchantId, state, createdAt, expiresAt, decidedAt };
  return { ...common, proposedBy: proposer, decidedBy: decider, ...proposed } as unknown as ProposalOf<Kind>;
}

const peopleOf = ({ proposer, decider, member }: People) => [proposer, decider, member];

/** Throws `permission_denied` if the row or its people are unattested. */
async function readAttested<Kind extends ProposalKind>(
  db: Queryable,
  query: Statement,
  values: readonly unknown[],
): Promise<ProposalOf<Kind>[]> {
  const rows = await db.run<ProposalRow>(query, values);
  attestedProposals.require(db, rows);
  await requireAttestedPeople(db, rows, peopleOf);
  return rows.map(toProposal<Kind>);
}

const LIST_OPEN = statement('proposal_list_open')`
  ${SELECT} WHERE t.merchant_id = $1 AND t.kind = $2 AND ${CAN_CHANGE} AND t.expires_at > $3 ORDER BY t.id`;

/**
 * The open proposals of this kind, oldest first, without those whose row or people are unattested: nobody can decide
 * them. For display, not for decisions.
 */
export async function listOpenProposals<Kind extends ProposalKind>(
  db: Queryable,
  kind: Kind,
  merchantId: MerchantId,
  at: Date,
): Promise<ProposalOf<Kind>[]> {
  const rows = attestedProposals.only(db, await db.run<ProposalRow>(LIST_OPEN, [merchantId, kind, at]));
  return (await withAttestedPeople(db, rows, peopleOf)).map(toProposal<Kind>);
}

const LIST_INVITATIONS = statement('proposal_list_invitations')`
  ${SELECT} WHERE t.merchant_id = $1 AND t.kind = 'invitation' ORDER BY t.id DESC`;

/**
 * The open invitations, newest first. Throws `permission_denied` if any invitation of the merchant is unattested:
 * decisions depend on all of them, and an open one could otherwise be hidden by hand.
 */
export async function listAllOpenInvitations(db: Queryable, merchantId: MerchantId, at: Date): Promise<Invitation[]> {
  const invitations = await readAttested<'invitation'>(db, LIST_INVITATIONS, [merchantId]);
  return invitations.filter((invitation) => isOpen(invitation, at));
}

const FIND = statement('proposal_find')`${SELECT} WHERE t.merchant_id = $1 AND t.kind = $2 AND t.id = $3`;

/** Throws `permission_denied` if the row or its people are unattested. */
export async function findProposal<Kind extends ProposalKind>(
  db: Queryable,
  kind: Kind,
  merchantId: MerchantId,
  id: string,
): Promise<ProposalOf<Kind> | null> {
  if (!isId(PROPOSAL_ID_PREFIXES[kind], id)) return null;
  const [proposal] = await readAttested<Kind>(db, FIND, [merchantId, kind, id]);
  return proposal ?? null;
}

const FIND_BY_TOKEN = statement('proposal_find_by_token')`
  ${SELECT} WHERE t.token_sha256 = $1 AND (t.approval_sha256 IS NULL OR t.approval_sha256 = $2)
    AND ${CAN_CHANGE} AND t.expires_at > $3`;

/** Digests of the tokens that a person presents. */
export type InvitationTokens = {
  readonly tokenSha256: Buffer;
  /** The token of the second person who approved the invitation, if the person presents one. */
  readonly approvalSha256: Buffer | null;
};

/**
 * The open invitation with this token. An approved invitation is found only with its approval token too, and an
 * unattested one never.
 */
export async function findInvitationByToken(
  db: Queryable,
  { tokenSha256, approvalSha256 }: InvitationTokens,
  at: Date,
): Promise<Invitation | null> {
  const row = await findOne<ProposalRow>(db, FIND_BY_TOKEN, [tokenSha256, approvalSha256, at]);
  return row !== null && attestedProposals.isAttested(db, row) ? toProposal<'invitation'>(row) : null;
}

const DECIDE = statement('proposal_decide')`
  UPDATE proposals t SET state = $2, decided_by = $3, decided_at = $4, approval_sha256 = $5
  WHERE t.id = $1 AND ${CAN_CHANGE} AND t.expires_at > $6 RETURNING 1`;

/** The decision of a second person. `by` is null for the service's staff. */
export type Decision = {
  readonly state: 'approved' | 'rejected';
  readonly by: UserId | null;
  readonly at: Date;
  /** The digest of the token that accepts an approved invitation; otherwise null. */
  readonly approvalSha256: Buffer | null;
};

/**
 * Decides the proposal if it is still open; returns whether it was. Of two concurrent decisions, one applies. The
 * approval of an invitation replaces an earlier invalid one.
 */
export async function decideProposal(tx: Tx, id: Proposal['id'], decision: Decision): Promise<boolean> {
  const { state, by, at, approvalSha256 } = decision;
  const decide = () => tx.run(DECIDE, [id, state, by, at, approvalSha256, at]);
  return (await attestedProposals.change(tx, [id], decide)).length === 1;
}

// A proposal becomes outdated even after its expiry: nobody has two pending ones about the same object.
const END = statement('proposal_end')`
  UPDATE proposals t SET state = $2, ended_at = $3, user_id = coalesce($4, t.user_id)
  WHERE t.id = $1 AND ${CAN_CHANGE} AND (t.expires_at > $3 OR $2 = 'replaced') RETURNING 1`;

async function endProposal(
  tx: Tx,
  id: Proposal['id'],
  state: 'withdrawn' | 'replaced' | 'accepted',
  { at, by = null }: { readonly at: Date; readonly by?: UserId | null },
): Promise<boolean> {
  return (await attestedProposals.change(tx, [id], () => tx.run(END, [id, state, at, by]))).length === 1;
}

/** Withdraws the proposal if it is still open; returns whether it was. */
export async function withdrawProposal(tx: Tx, id: Proposal['id'], at: Date): Promise<boolean> {
  return endProposal(tx, id, 'withdrawn', { at });
}

/** Accepts the invitation if it is still open; returns whether it was. Of two concurrent acceptances, one succeeds. */
export async function markInvitationAccepted(tx: Tx, id: InvitationId, by: UserId, at: Date): Promise<boolean> {
  return endProposal(tx, id, 'accepted', { at, by });
}

const LIST_PENDING = statement('proposal_list_pending')`
  SELECT ${attestedProposals.columns} FROM proposals t
  WHERE t.merchant_id = $1 AND t.kind = $2 AND t.user_id IS NOT DISTINCT FROM $3 AND t.state = 'pending'
    AND t.proposed_by = coalesce($4, t.proposed_by) AND (t.kind = 'policy_change' OR t.roles IS NOT NULL OR $5)
  ORDER BY t.id`;

/** The changes of a member, or of the policy, that another change makes outdated. */
export type Outdated = {
  readonly merchantId: MerchantId;
  /** The member; null: the policy. */
  readonly userId: UserId | null;
  /** Null: of all proposers. */
  readonly proposer: UserId | null;
  readonly withRemovals: boolean;
};

/** Who makes proposals outdated, and by which proposal; null: by a change that needed none. */
export type Replacement = { readonly by: Decider; readonly replacedBy: Proposal['id'] | null; readonly at: Date };

/** Marks the pending proposals as replaced, each with an entry in the audit log. */
export async function replaceProposals(tx: Tx, outdated: Outdated, { by, replacedBy, at }: Replacement): Promise<void> {
  const { merchantId, userId, proposer, withRemovals } = outdated;
  const kind = userId === null ? 'policy_change' : 'member_change';
  const values = [merchantId, kind, userId, proposer, withRemovals];
  for (const row of await tx.run<AttestedRow<'proposals'>>(LIST_PENDING, values)) {
    const id = row.id as Proposal['id'];
    // An unattested one ends too, because it would block the next one; it gets no attestation by this.
    if (attestedProposals.isAttested(tx, row)) await endProposal(tx, id, 'replaced', { at });
    else await tx.run(END, [id, 'replaced', at, null]);
    const after = { replaced_by: replacedBy };
    await recordDecision(tx, by, { action: `${kind}.replaced`, subjectId: id, after, at });
  }
}

const LIST_OPEN_OF = statement('proposal_list_open_of')`
  ${SELECT} WHERE t.merchant_id = $1 AND $2 IN (t.proposed_by, t.decided_by) AND ${CAN_CHANGE} AND t.expires_at > $3
  ORDER BY t.kind DESC, t.id DESC`;

const TAKE_APPROVAL_BACK = statement('proposal_take_approval_back')`
  UPDATE proposals SET state = 'pending', decided_by = NULL, decided_at = NULL, approval_sha256 = NULL
  WHERE id = $1 AND kind = 'invitation' AND state = 'approved'`;

/**
 * Withdraws the open proposals of the person, and their approvals of other people's invitations, which become pending.
 * Returns each withdrawn row with its change, without unattested ones, which nobody can decide.
 */
export async function withdrawProposalsBy(
  tx: Tx,
  { merchantId, userId }: { readonly merchantId: MerchantId; readonly userId: UserId },
  at: Date,
): Promise<(readonly [action: string, id: Proposal['id']])[]> {
  const rows = attestedProposals.only(tx, await tx.run<ProposalRow>(LIST_OPEN_OF, [merchantId, userId, at]));
  const withdrawn: (readonly [string, Proposal['id']])[] = [];
  for (const { id, kind, proposedBy } of rows.map(toProposal)) {
    if (proposedBy?.id === userId) {
      await withdrawProposal(tx, id, at);
      withdrawn.push([`${kind}.withdrawn`, id]);
    } else {
      await attestedProposals.change(tx, [id], () => tx.run(TAKE_APPROVAL_BACK, [id]));
      withdrawn.push([`${kind}.approval_withdrawn`, id]);
    }
  }
  return withdrawn;
}
