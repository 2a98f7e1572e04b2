// Proposals: one person proposes an invitation or a change of members or policy, and another person decides.
import { stateConflict, type DomainError } from '../errors.ts';
import type { InvitationId, MemberChangeId, MerchantId, PolicyChangeId } from '../ids.ts';
import type { NamedPerson, Role } from './member.ts';
import type { PolicyObject } from './policy.ts';

/** The fields of every proposal. */
type ProposalFields<Kind, Id, State> = {
  readonly kind: Kind;
  readonly id: Id;
  readonly merchantId: MerchantId;
  readonly state: State;
  readonly proposedBy: NamedPerson;
  readonly createdAt: Date;
  /** From then on nobody can decide it or accept an invitation. */
  readonly expiresAt: Date;
  /** Null for an approval by the service's staff, and for a pending proposal. */
  readonly decidedBy: NamedPerson | null;
  readonly decidedAt: Date | null;
};

type ChangeState = 'pending' | 'approved' | 'rejected' | 'withdrawn' | 'replaced';
type InvitationState = 'pending' | 'approved' | 'rejected' | 'withdrawn' | 'accepted';

/** An invitation of a person to join a merchant. It is open while it is pending or approved. */
export type Invitation = Omit<ProposalFields<'invitation', InvitationId, InvitationState>, 'proposedBy'> & {
  /** Null: the service's staff sent it. */
  readonly proposedBy: NamedPerson | null;
  readonly email: string;
  readonly roles: readonly Role[];
};

/** A proposal to change the roles of another member, or to remove them. */
export type MemberChange = ProposalFields<'member_change', MemberChangeId, ChangeState> & {
  readonly member: NamedPerson;
  /** The member's roles at the time of the proposal. A change of roles applies only while the member still has them. */
  readonly before: readonly Role[];
  /** Null: the member is to be removed. */
  readonly after: readonly Role[] | null;
};

/** A proposal to change the policy. `changes` holds only the fields to change, named as in the policy object. */
export type PolicyChange = ProposalFields<'policy_change', PolicyChangeId, ChangeState> & {
  readonly changes: Partial<PolicyObject>;
};

export type Proposal = Invitation | MemberChange | PolicyChange;
export type ProposalKind = Proposal['kind'];
export type ProposalOf<Kind extends ProposalKind> = Extract<Proposal, { readonly kind: Kind }>;

export const PROPOSAL_ID_PREFIXES = { invitation: 'inv', member_change: 'mch', policy_change: 'pch' } as const;

/** The common fields of every new proposal. */
export function pendingUntilExpiry(at: Date) {
  const expiresAt = new Date(at.getTime() + PROPOSAL_LIFE_MS);
  return { state: 'pending', createdAt: at, expiresAt, decidedBy: null, decidedAt: null } as const;
}

const PROPOSAL_LIFE_MS = 7 * 24 * 60 * 60_000;

/** Whether the proposal can still be decided or, if it is an invitation, accepted. */
export function isOpen({ kind, state, expiresAt }: Proposal, at: Date): boolean {
  return (state === 'pending' || (kind === 'invitation' && state === 'approved')) && expiresAt > at;
}

/** The proposal can no longer be decided. */
export function proposalEnded(): DomainError {
  return stateConflict('This proposal was decided, withdrawn or replaced, or it has expired.');
}

/** The proposer lost the roles that this proposal requires. */
export function proposerWithoutPermission(): DomainError {
  return stateConflict('The proposer no longer has permission. Create a new proposal.');
}
