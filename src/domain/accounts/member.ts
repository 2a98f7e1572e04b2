// Members of a merchant: their roles and what each role may do.
import type { Scope } from './api-key.ts';
import { DomainError } from '../errors.ts';
import type { InvitationId, MerchantId, UserId } from '../ids.ts';
import type { Currency } from '../money.ts';

export const ROLES = ['owner', 'admin', 'developer', 'maker', 'approver', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** A person who acts for one merchant in a session. */
export type Person = {
  readonly userId: UserId;
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly roles: readonly Role[];
  readonly hasSecondFactor: boolean;
  /** When this session last proved its second factor; null: never, or there is none. */
  readonly secondFactorAt: Date | null;
};

/** A person's membership, as the merchant's people see it. */
export type Member = {
  readonly userId: UserId;
  readonly name: string;
  readonly email: string;
  readonly roles: readonly Role[];
  readonly hasSecondFactor: boolean;
  readonly createdAt: Date;
};

/** A person who is asked to join. */
export type Invitation = {
  readonly id: InvitationId;
  readonly merchantId: MerchantId;
  readonly email: string;
  readonly roles: readonly Role[];
  /** Null: by whoever runs the service. */
  readonly createdBy: { readonly id: UserId; readonly name: string } | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** When a second person agreed to it. */
  readonly approvedAt: Date | null;
  /** Null beside a time: whoever runs the service. */
  readonly approvedBy: { readonly id: UserId; readonly name: string } | null;
};

/** Who acts, and from where: what the audit log keeps of a caller. */
export type ActedBy = {
  readonly person: Person;
  readonly address: string | null;
  readonly requestId: string;
};

/** How long a proof of the second factor counts as fresh. */
export const FRESH_FOR_MS = 5 * 60_000;

/** More people than this is no merchant but a mistake. */
export const MAX_MEMBERS_PER_MERCHANT = 200;
export const MAX_OPEN_INVITATIONS_PER_MERCHANT = 100;
export const INVITATION_LIFE_MS = 7 * 24 * 60 * 60_000;

const READ_SCOPES: readonly Scope[] = ['collections:read', 'payouts:read', 'balance:read'];
const WRITE_SCOPES: readonly Scope[] = ['collections:write', 'payouts:write'];

/** Whether one of the wanted roles is among those held. An owner holds every role. */
export function holdsOneOf(held: readonly Role[], wanted: readonly Role[]): boolean {
  return held.includes('owner') || wanted.some((role) => held.includes(role));
}

/** What a session with these roles may do on the routes that API keys use. Every role reads. */
export function scopesOfRoles(roles: readonly Role[]): Scope[] {
  return holdsOneOf(roles, ['maker']) ? [...READ_SCOPES, ...WRITE_SCOPES] : [...READ_SCOPES];
}

/** Who may grant a role holds it. So nobody can give themselves more than they have. */
export function mayGrant(held: readonly Role[], granted: readonly Role[]): boolean {
  return granted.every((role) => holdsOneOf(held, [role]));
}

/** Whether somebody with the roles `held` may give a member who has `before` the roles `after` instead. */
export function mayEdit(held: readonly Role[], before: readonly Role[], after: readonly Role[]): boolean {
  if (!holdsOneOf(held, ['admin'])) return false;
  const added = after.filter((role) => !before.includes(role));
  const isOwnerDemoted = before.includes('owner') && !after.includes('owner');
  return mayGrant(held, added) && (!isOwnerDemoted || held.includes('owner'));
}

/** Whether the session proved the second factor within the last five minutes. Never true of a person who has none. */
export function hasFreshSecondFactor(person: Person, now: Date): boolean {
  if (!person.hasSecondFactor || person.secondFactorAt === null) return false;
  const ageMs = now.getTime() - person.secondFactorAt.getTime();
  return ageMs >= 0 && ageMs < FRESH_FOR_MS;
}

/** The one answer to everybody whom the console refuses. `reason` is for the audit log and is not shown. */
export function permissionDenied(reason: string): DomainError {
  return new DomainError('permission_denied', 'You may not do this. Log in again, or ask an owner of the merchant.', {
    reason,
  });
}

/** The same for an unknown id, for one who left, and for another merchant's. */
export function memberNotFound(): DomainError {
  return new DomainError('member_not_found', 'There is no member with this id. Look it up in the list of members.');
}

export function lastOwner(): DomainError {
  return new DomainError('state_conflict', 'This is the last owner. Make another person an owner first.');
}

/** The same for an unknown id or token, for one that was used or withdrawn or is over, and for another merchant's. */
export function invitationNotFound(): DomainError {
  return new DomainError('invitation_not_found', 'There is no such invitation, or no longer. Ask for a new one.');
}
