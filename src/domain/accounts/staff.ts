// The service's staff: people who log in, with a password and a one-time code, for each command that changes something.
import { DomainError, stateConflict } from '../errors.ts';
import type { StaffId } from '../ids.ts';

/** The lower-case name by which one of the staff logs in. It belongs to one person for ever. */
export type StaffName = string & { readonly __noun: 'staff name' };

/** One of the staff, as acts are recorded. The code that passes a value on has verified a log-in. */
export type StaffMember = { readonly id: StaffId; readonly name: StaffName };

/** The name in its one spelling; null if it does not have the form of a name. */
export function parseStaffName(text: string): StaffName | null {
  const name = text.toLowerCase();
  return /^[a-z0-9][a-z0-9._@+-]{1,99}$/.test(name) ? (name as StaffName) : null;
}

/**
 * How many of the staff can always log in: one proposes, another one confirms. With fewer, nobody could add or reset
 * one.
 */
export const FEWEST_STAFF = 2;

type Enrolment = { readonly state: 'active' | 'ended'; readonly passwordHash: string | null };

/** Whether the person is enrolled and not ended. */
export function canLogIn({ state, passwordHash }: Enrolment): boolean {
  return state === 'active' && passwordHash !== null;
}

/**
 * One error for an unknown name, a person who ended or is not enrolled, a wrong password, and a wrong or used code. The
 * audit log has the reason.
 */
export function staffRefused(reason: string): DomainError {
  const message = 'Name, password or code is not right. A code works once: after a use, wait for the next one.';
  return new DomainError('permission_denied', message, { reason, category: 'unauthenticated' });
}

/** The member was ended or reset after the log-in, or the row is unattested. */
export function staffMemberInactive({ name }: Pick<StaffMember, 'name'>): DomainError {
  return stateConflict(`${name} can no longer log in as staff.`);
}
