// Changes of a merchant's people that two must agree to: which those are, who may agree, and what waits for it.
import { DomainError } from '../errors.ts';
import type { MemberChangeId, MerchantId, UserId } from '../ids.ts';
import {
  holdsOneOf,
  lastOwner,
  mayEdit,
  mayGrant,
  type ActedBy,
  type Invitation,
  type Member,
  type Role,
} from './member.ts';

export type MemberChangeState = 'pending' | 'approved' | 'rejected' | 'withdrawn' | 'replaced';

export type NamedPerson = { readonly id: UserId; readonly name: string };

/** Somebody's proposal to change what another member may do. */
export type MemberChange = {
  readonly id: MemberChangeId;
  readonly merchantId: MerchantId;
  readonly member: NamedPerson;
  readonly state: MemberChangeState;
  /** The roles that the member had then: they are changed from no others. */
  readonly before: readonly Role[];
  /** Null: removed. */
  readonly after: readonly Role[] | null;
  readonly proposedBy: NamedPerson;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Null of an approved one: by whoever runs the service. */
  readonly decidedBy: NamedPerson | null;
  readonly decidedAt: Date | null;
};

/** Who decides on what waits: a person in a session, or whoever runs the service, where a merchant's second person is gone. */
export type Decider = ActedBy | { readonly serviceFor: MerchantId };

/** The second word that something waits for. */
export type Agreement = {
  /** What the second person must be. */
  readonly role: 'owner' | 'admin';
  /** Those who are, without the one who proposed it; nobody, sometimes. */
  readonly people: readonly NamedPerson[];
};

export type InvitationApproval =
  | { readonly state: 'not_needed' }
  | { readonly state: 'waiting'; readonly agreement: Agreement }
  /** `by` is null for whoever runs the service. */
  | { readonly state: 'approved'; readonly by: NamedPerson | null };

export const MEMBER_CHANGE_LIFE_MS = 7 * 24 * 60 * 60_000;

// Each has a part in moving money out: makes payouts (an admin by a key of theirs), releases them, or lets people in who do.
// Two made-up people need two of these, so each of them takes a second real person.
const MONEY_ROLES: readonly Role[] = ['owner', 'admin', 'maker', 'approver'];
const ADMINISTRATIVE_ROLES: readonly Role[] = ['owner', 'admin'];

type Asked = {
  readonly before: readonly Role[];
  readonly after: readonly Role[];
  /** Null: whoever runs the service, who needs nobody. */
  readonly proposer: UserId | null;
  /** Whose roles they are; null: of somebody who is to be invited. */
  readonly userId: UserId | null;
};

/** Those whom a question of who must agree is about. */
export type People = {
  readonly members: readonly Member[];
  /** Invitations that are open. */
  readonly invitations: readonly Invitation[];
};

/**
 * Who must agree before a change of roles counts; null: nobody must. One is enough for what has no part in moving money out, for
 * leaving or giving up roles of one's own, and where the merchant has no other owner or admin at all, and none whom the service
 * invited: until that one comes in, it waits for them.
 */
export function agreementOn(asked: Asked, { members, invitations }: People): Agreement | null {
  const { proposer, userId } = asked;
  if (proposer === null || proposer === userId) return null;
  const role = secondRoleFor(asked.before, asked.after);
  if (role === null) return null;
  const others = members.filter(
    (member) => member.userId !== proposer && holdsOneOf(member.roles, ADMINISTRATIVE_ROLES),
  );
  if (others.length === 0 && !invitations.some(isForOwnerOrAdmin)) return null;
  const people = others.filter(({ roles }) => holdsOneOf(roles, [role]));
  return { role, people: people.map(({ userId: id, name }) => ({ id, name })) };
}

/** Whether whoever runs the service asked for this owner or admin: no member makes such an invitation undone. */
export function isForOwnerOrAdmin({ createdBy, roles }: Invitation): boolean {
  return createdBy === null && holdsOneOf(roles, ADMINISTRATIVE_ROLES);
}

/** What the second person must be for a change of somebody's roles: an owner makes owners. Null: there need be none. */
export function secondRoleFor(before: readonly Role[], after: readonly Role[]): 'owner' | 'admin' | null {
  const gained = after.filter((role) => !holdsOneOf(before, [role]));
  if (gained.includes('owner')) return 'owner';
  if (gained.some((role) => MONEY_ROLES.includes(role))) return 'admin';
  // Who could take the other admins away would be the only one left.
  const losesAdministration = ADMINISTRATIVE_ROLES.some((role) => before.includes(role) && !holdsOneOf(after, [role]));
  return losesAdministration ? 'admin' : null;
}

/** An approval stands only while who gave it may still give it; without one, what it needs is judged on the people of now. */
export function approvalOf(invitation: Invitation, people: People): InvitationApproval {
  const { roles, createdBy, approvedAt, approvedBy } = invitation;
  const approver = people.members.find(({ userId }) => userId === approvedBy?.id);
  const role = secondRoleFor([], roles) ?? 'admin';
  const isApprovalValid = approvedBy === null || (approver !== undefined && holdsOneOf(approver.roles, [role]));
  if (approvedAt !== null && isApprovalValid) return { state: 'approved', by: approvedBy };
  const asked = { before: [], after: roles, proposer: createdBy?.id ?? null, userId: null };
  const agreement = agreementOn(asked, people);
  return agreement === null ? { state: 'not_needed' } : { state: 'waiting', agreement };
}

/** Whether who sent the invitation may grant its roles now. */
export function isStillMeant({ createdBy, roles }: Invitation, members: readonly Member[]): boolean {
  if (createdBy === null) return true;
  const held = members.find(({ userId }) => userId === createdBy.id)?.roles ?? [];
  return holdsOneOf(held, ['admin']) && mayGrant(held, roles);
}

/** The second word on a proposal as things are now. */
export function agreementOnChange(change: MemberChange, members: readonly Member[]): Agreement {
  const role = secondRoleFor(change.before, change.after ?? []) ?? 'admin';
  const people = members.filter(({ userId, roles }) => userId !== change.proposedBy.id && holdsOneOf(roles, [role]));
  return { role, people: people.map(({ userId: id, name }) => ({ id, name })) };
}

/** Whether the person is one of those who may agree. */
export function mayAgree({ people }: Agreement, userId: UserId): boolean {
  return people.some(({ id }) => id === userId);
}

/**
 * The member as they are, if the change can be made to them now: who proposed it still may, the member still has the roles that
 * it was proposed for, and an owner is left. A removal is of whatever they are by then: nobody escapes it by changing what they
 * are. Throws `state_conflict`.
 */
export function requireApplicable(change: MemberChange, members: readonly Member[]): Member {
  const { before, after, proposedBy } = change;
  const held = members.find(({ userId }) => userId === proposedBy.id)?.roles ?? [];
  const member = members.find(({ userId }) => userId === change.member.id);
  if (member === undefined || (after !== null && !haveSame(member.roles, before))) {
    throw new DomainError(
      'state_conflict',
      'The member is not what they were when this was proposed. Propose it anew.',
    );
  }
  if (!mayEdit(held, member.roles, after ?? [])) {
    throw new DomainError('state_conflict', 'Who proposed this may not any more. Propose it anew.');
  }
  requireOwnerLeft(member, after, members);
  return member;
}

/** Throws `state_conflict` where the last owner would be none any more. */
export function requireOwnerLeft(member: Member, after: readonly Role[] | null, members: readonly Member[]): void {
  const owners = members.filter(({ roles }) => roles.includes('owner'));
  if (owners.length === 1 && owners[0]?.userId === member.userId && after?.includes('owner') !== true)
    throw lastOwner();
}

export function isService(decider: Decider): decider is Extract<Decider, { serviceFor: MerchantId }> {
  return 'serviceFor' in decider;
}

/** The merchant that a decision is of. */
export function merchantOf(decider: Decider): MerchantId {
  return isService(decider) ? decider.serviceFor : decider.person.merchantId;
}

/** The same for an unknown id and for another merchant's. */
export function memberChangeNotFound(): DomainError {
  return new DomainError(
    'member_change_not_found',
    'There is no such proposal. The list of members shows those that wait.',
  );
}

export function haveSame(one: readonly Role[], other: readonly Role[]): boolean {
  return one.length === other.length && one.every((role) => other.includes(role));
}
