// The service's staff: people who log in, with a password and a one-time code, for each command that changes something.
import { DomainError, stateConflict } from '../errors.ts';
import type { StaffId } from '../ids.ts';

/** The name by which one of the staff logs in, in lower case. It is one person's for ever. */
export type StaffName = string & { readonly __noun: 'staff name' };

/** One of the staff, as acts are recorded. Whoever passes one on has had them log in. */
export type StaffMember = { readonly id: StaffId; readonly name: StaffName };

/** The name in its one spelling; null when it has not the form of a name. */
export function parseStaffName(text: string): StaffName | null {
  const name = text.toLowerCase();
  return /^[a-z0-9][a-z0-9._@+-]{1,99}$/.test(name) ? (name as StaffName) : null;
}

/**
 * How many of the staff who can log in are always left: one proposes, another one confirms. With fewer, nobody could ever add or
 * reset one again.
 */
export const FEWEST_STAFF = 2;

type Enrolment = { readonly state: 'active' | 'ended'; readonly passwordHash: string | null };

/** Whether a person is enrolled and not ended. */
export function canLogIn({ state, passwordHash }: Enrolment): boolean {
  return state === 'active' && passwordHash !== null;
}

/**
 * One error for an unknown name, a person who ended or is not enrolled, a wrong password, and a wrong or used code. The audit log has
 * the reason.
 */
export function staffRefused(reason: string): DomainError {
  const message = 'Name, password or code is not right. A code works once: after a use, wait for the next one.';
  return new DomainError('permission_denied', message, { reason, category: 'unauthenticated' });
}

/** The person was ended or reset since they logged in, or no process of ours wrote their row. */
export function staffGone({ name }: Pick<StaffMember, 'name'>): DomainError {
  return stateConflict(`${name} is none of the staff who can log in.`);
}
