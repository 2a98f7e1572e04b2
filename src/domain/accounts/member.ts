// Members of a merchant: their roles and what each role may do.
import { DomainError } from '../errors.ts';
import type { MerchantId, UserId } from '../ids.ts';
import type { Currency } from '../money.ts';

export const ROLES = ['owner', 'admin', 'developer', 'maker', 'approver', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** A person as other people's records name them, with the e-mail address, because anybody can choose any name. */
export type NamedPerson = { readonly id: UserId; readonly name: string; readonly email: string };

/** A person as payments name them. Name and e-mail are null if no process of ours wrote their account as it is. */
export type KnownPerson = { readonly id: UserId; readonly name: string | null; readonly email: string | null };

export type Person = {
  readonly userId: UserId;
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly roles: readonly Role[];
  readonly hasSecondFactor: boolean;
  /** A recovery removed the second factor, and the person has not enrolled another one. */
  readonly lostSecondFactor: boolean;
  /** When the account was last recovered; null: never. */
  readonly recoveredAt: Date | null;
  /** When this session last verified the second factor; null: never, or the person has none. */
  readonly secondFactorAt: Date | null;
  /** When this session last verified the person in any way. The log-in is the first time. */
  readonly verifiedAt: Date;
};

/** A person's membership of a merchant, as its other members see it. */
export type Member = Pick<Person, 'userId' | 'roles' | 'hasSecondFactor'> &
  Omit<NamedPerson, 'id'> & { readonly createdAt: Date };

/** A member as other people's records name them. */
export function toNamedPerson({ userId: id, name, email }: Pick<Member, 'userId' | 'name' | 'email'>): NamedPerson {
  return { id, name, email };
}

/** Who acts, and from which address: the audit log records both. */
export type ActedBy = {
  readonly person: Person;
  readonly address: string | null;
  readonly requestId: string;
};

/** The common input of every operation of a person: who acts, and when. */
export type ByPerson = { readonly by: ActedBy; readonly at: Date };

/** How long a verification of a person, by the second factor or the password, counts as fresh. */
export const FRESH_FOR_MS = 5 * 60_000;

/** A merchant with more members than this is a mistake. */
export const MAX_MEMBERS_PER_MERCHANT = 200;
export const MAX_OPEN_INVITATIONS_PER_MERCHANT = 100;

const SECOND_FACTOR_ROLES: readonly Role[] = ['owner', 'admin', 'maker', 'approver'];

/** Whether one of the wanted roles is among those held. An owner holds every role. */
export function holdsOneOf(held: readonly Role[], wanted: readonly Role[]): boolean {
  return held.includes('owner') || wanted.some((role) => held.includes(role));
}

/** Whether a person in these roles counts as the maker of what a key that they created creates. */
export function countsAsMaker(roles: readonly Role[]): boolean {
  return holdsOneOf(roles, ['admin', 'maker']);
}

/** A person may grant only roles that they hold, so nobody can extend their own rights. */
export function mayGrant(held: readonly Role[], granted: readonly Role[]): boolean {
  return granted.every((role) => holdsOneOf(held, [role]));
}

/** Whether a person with the roles `held` may change a member's roles from `before` to `after`. */
export function mayChangeRoles(held: readonly Role[], before: readonly Role[], after: readonly Role[]): boolean {
  if (!holdsOneOf(held, ['admin'])) return false;
  const added = after.filter((role) => !before.includes(role));
  const isOwnerDemoted = before.includes('owner') && !after.includes('owner');
  return mayGrant(held, added) && (!isOwnerDemoted || held.includes('owner'));
}

/** Whether these roles require a second factor: they take part in moving money, or decide who may. */
export function requiresSecondFactor(roles: readonly Role[]): boolean {
  return roles.some((role) => SECOND_FACTOR_ROLES.includes(role));
}

/** Whether the person must first enrol a second factor: their roles require one, or a recovery removed it. */
export function mustEnrol(person: Pick<Person, 'roles' | 'hasSecondFactor' | 'lostSecondFactor'>): boolean {
  return !person.hasSecondFactor && (person.lostSecondFactor || requiresSecondFactor(person.roles));
}

/** Whether the session verified the second factor in the last five minutes. Always false without a second factor. */
export function hasFreshSecondFactor(person: Person, now: Date): boolean {
  return person.hasSecondFactor && person.secondFactorAt !== null && isFresh(person.secondFactorAt, now);
}

/** Whether the last verification allows a step-up. A person who has or needs a second factor must verify that. */
export function isFreshlyVerified(person: Person, now: Date): boolean {
  const verifiedAt = lastVerification(person);
  return verifiedAt !== null && isFresh(verifiedAt, now);
}

/** Whether the last verification is fresh enough to enrol a factor: by the existing factor, else by the password. */
export function isFreshToEnrol(person: Person, now: Date): boolean {
  return person.hasSecondFactor ? hasFreshSecondFactor(person, now) : isFresh(person.verifiedAt, now);
}

/** When `isFreshlyVerified` becomes false without a new verification; null: it is false, because there was none. */
export function freshUntil(person: Person): Date | null {
  const verifiedAt = lastVerification(person);
  return verifiedAt && new Date(verifiedAt.getTime() + FRESH_FOR_MS);
}

function lastVerification(person: Person): Date | null {
  if (person.hasSecondFactor) return person.secondFactorAt;
  return mustEnrol(person) ? null : person.verifiedAt;
}

function isFresh(verifiedAt: Date, now: Date): boolean {
  const ageMs = now.getTime() - verifiedAt.getTime();
  return ageMs >= 0 && ageMs < FRESH_FOR_MS;
}

const REFUSAL = 'You may not do this. Log in again, or ask an owner of the merchant.';

/** The one error for every refusal in a session. `reason` goes to the audit log and not to the caller. */
export function permissionDenied(reason: string): DomainError {
  return new DomainError('permission_denied', REFUSAL, { reason });
}

/** As `permissionDenied`, without a valid session. Only the HTTP status differs: it tells a front-end to log in. */
export function notAuthenticated(reason: string): DomainError {
  return new DomainError('permission_denied', REFUSAL, { reason, category: 'unauthenticated' });
}

const WRONG_CREDENTIALS = 'E-mail, password or code is not right.';

/** The one error for a failed log-in or acceptance. It tells neither what is wrong nor whether the account exists. */
export function authenticationFailed(reason: string): DomainError {
  return new DomainError('permission_denied', WRONG_CREDENTIALS, { reason, category: 'unauthenticated' });
}

/** As `authenticationFailed`, for a person in a session who gives their password or second factor again. */
export function verificationFailed(reason: string): DomainError {
  return new DomainError('permission_denied', WRONG_CREDENTIALS, { reason });
}

/** One error for a recovery token that is unknown, used or expired, or that another request has replaced. */
export function recoveryRefused(): DomainError {
  const message = 'This recovery does not exist or is no longer open. Ask the staff of the service for a new token.';
  return new DomainError('permission_denied', message, { reason: 'no such recovery', category: 'unauthenticated' });
}
