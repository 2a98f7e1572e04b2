// Changes of members and roles that need a second person's approval: which ones need it, and who may approve.
import { stateConflict } from '../errors.ts';
import type { MerchantId, UserId } from '../ids.ts';
import {
  holdsOneOf,
  mayChangeRoles,
  mayGrant,
  toNamedPerson,
  type ActedBy,
  type Member,
  type NamedPerson,
  type Role,
} from './member.ts';
import { proposerWithoutPermission, type Invitation, type MemberChange } from './proposal.ts';
import type { StaffMember } from './staff.ts';

/** Who decides: a person in a session, or the staff for a merchant that has no second person any more. */
export type Decider = ActedBy | { readonly serviceFor: MerchantId; readonly staff: StaffMember };

/** The second person's approval that a change needs. */
export type Agreement = {
  readonly role: 'owner' | 'admin';
  /** The members who may approve, without the person who proposed the change. It can be empty. */
  readonly people: readonly NamedPerson[];
};

export type InvitationApproval =
  | { readonly state: 'not_needed' }
  | { readonly state: 'waiting'; readonly agreement: Agreement }
  /** `by` is null when the service's staff approved it. */
  | { readonly state: 'approved'; readonly by: NamedPerson | null };

// Roles that take part in moving money out: a maker creates payouts, an admin creates API keys that create payouts, an
// approver releases payouts, and an owner holds every role. A person who wants to move money out alone must invent
// members with these roles. Granting any of them needs the approval of a second person, so no series of changes by one
// person is enough.
const MONEY_ROLES: readonly Role[] = ['owner', 'admin', 'maker', 'approver'];
const ADMINISTRATIVE_ROLES: readonly Role[] = ['owner', 'admin'];

type RoleChange = {
  readonly before: readonly Role[];
  readonly after: readonly Role[];
  /** Null: the service's staff, who need no approval. */
  readonly proposer: UserId | null;
  /** The member whose roles change; null: a person to be invited. */
  readonly userId: UserId | null;
};

/** A merchant's members and open invitations. They determine whether a change needs approval, and by whom. */
export type People = {
  readonly members: readonly Member[];
  /** Only open invitations. */
  readonly invitations: readonly Invitation[];
};

/**
 * The approval that a change of roles needs; null: none. A change needs no approval if it grants no part in moving
 * money out and takes neither `owner` nor `admin` from anybody, if it only affects the person's own roles, or if the
 * merchant has no other owner or admin. An open invitation of an owner or admin by the service's staff counts as
 * another one: the change waits until that person has joined.
 */
export function agreementOn(change: RoleChange, { members, invitations }: People): Agreement | null {
  const { proposer, userId } = change;
  if (proposer === null || proposer === userId) return null;
  const role = secondPersonRole(change.before, change.after);
  if (role === null) return null;
  const others = members.filter(
    (member) => member.userId !== proposer && holdsOneOf(member.roles, ADMINISTRATIVE_ROLES),
  );
  if (others.length === 0 && !invitations.some(isForOwnerOrAdmin)) return null;
  return { role, people: holdersOf(role, others) };
}

/** Whether it is an invitation of an owner or admin by the service's staff. No member may withdraw or replace it. */
export function isForOwnerOrAdmin({ proposedBy, roles }: Invitation): boolean {
  return proposedBy === null && holdsOneOf(roles, ADMINISTRATIVE_ROLES);
}

/** The role that must approve this change of roles; null: none. Only an owner approves a new owner. */
export function secondPersonRole(before: readonly Role[], after: readonly Role[]): 'owner' | 'admin' | null {
  const gained = after.filter((role) => !holdsOneOf(before, [role]));
  if (gained.includes('owner')) return 'owner';
  if (gained.some((role) => MONEY_ROLES.includes(role))) return 'admin';
  // Otherwise one of two administrators could demote the other, and then need no approval for anything.
  const losesAdministration = ADMINISTRATIVE_ROLES.some((role) => before.includes(role) && !holdsOneOf(after, [role]));
  return losesAdministration ? 'admin' : null;
}

/**
 * Whether the open invitation is approved or needs approval. An approval counts only while its author could still give
 * it. Without an approval, the merchant's current people determine whether one is needed.
 */
export function approvalOf(invitation: Invitation, people: People): InvitationApproval {
  const { state, roles, proposedBy, decidedBy } = invitation;
  const approver = people.members.find(({ userId }) => userId === decidedBy?.id);
  const role = secondPersonRole([], roles) ?? 'admin';
  const isApprovalValid = decidedBy === null || (approver !== undefined && holdsOneOf(approver.roles, [role]));
  if (state === 'approved' && isApprovalValid) return { state, by: decidedBy };
  const change = { before: [], after: roles, proposer: proposedBy?.id ?? null, userId: null };
  const agreement = agreementOn(change, people);
  return agreement === null ? { state: 'not_needed' } : { state: 'waiting', agreement };
}

/** Whether the person who sent the invitation may still grant its roles. */
export function mayStillGrant({ proposedBy, roles }: Invitation, members: readonly Member[]): boolean {
  if (proposedBy === null) return true;
  const held = members.find(({ userId }) => userId === proposedBy.id)?.roles ?? [];
  return holdsOneOf(held, ['admin']) && mayGrant(held, roles);
}

/** The approval that a proposal needs, given the merchant's current members. */
export function agreementOnChange(change: MemberChange, members: readonly Member[]): Agreement {
  const role = secondPersonRole(change.before, change.after ?? []) ?? 'admin';
  const others = members.filter(({ userId }) => userId !== change.proposedBy.id);
  return { role, people: holdersOf(role, others) };
}

function holdersOf(role: Role, members: readonly Member[]): NamedPerson[] {
  return members.filter(({ roles }) => holdsOneOf(roles, [role])).map(toNamedPerson);
}

export function mayApprove({ people }: Agreement, userId: UserId): boolean {
  return people.some(({ id }) => id === userId);
}

/**
 * The current member, if the change can be applied: its proposer may still propose it, the member still has the roles
 * that it was proposed for, and the merchant keeps an owner. A removal applies whatever roles the member has, so that
 * nobody escapes it by a change of their own roles. Throws `state_conflict`.
 */
export function requireApplicable(change: MemberChange, members: readonly Member[]): Member {
  const { before, after, proposedBy } = change;
  const held = members.find(({ userId }) => userId === proposedBy.id)?.roles ?? [];
  const member = members.find(({ userId }) => userId === change.member.id);
  if (member === undefined || (after !== null && !haveSameRoles(member.roles, before))) {
    throw stateConflict('The member has changed since this was proposed. Create a new proposal.');
  }
  if (!mayChangeRoles(held, member.roles, after ?? [])) throw proposerWithoutPermission();
  requireOwnerLeft(member, after, members);
  return member;
}

/** Throws `state_conflict` if the change would take the role from the merchant's last owner. */
export function requireOwnerLeft(member: Member, after: readonly Role[] | null, members: readonly Member[]): void {
  const owners = members.filter(({ roles }) => roles.includes('owner'));
  if (owners.length === 1 && owners[0]?.userId === member.userId && after?.includes('owner') !== true) {
    throw stateConflict('This is the last owner. Make another person an owner first.');
  }
}

export function isService(decider: Decider): decider is Extract<Decider, { serviceFor: MerchantId }> {
  return 'serviceFor' in decider;
}

export function merchantOf(decider: Decider): MerchantId {
  return isService(decider) ? decider.serviceFor : decider.person.merchantId;
}

export function haveSameRoles(one: readonly Role[], other: readonly Role[]): boolean {
  return one.length === other.length && one.every((role) => other.includes(role));
}
