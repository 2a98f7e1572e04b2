// The account of a person in a session who gave their password again.
import { requiresSecondFactor, verificationFailed, type ByPerson } from '../../domain/accounts/member.ts';
import { stateConflict } from '../../domain/errors.ts';
import type { UserId } from '../../domain/ids.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import type { Tx } from '../platform/database.ts';
import { listRolesOf } from './member.ts';
import { findUserLocked, type User } from './user.ts';

/** The locked row of the person. Throws `permission_denied` unless the password that was verified is still theirs. */
export async function lockOwnUser(tx: Tx, { by, verifiedHash }: ByPerson & PasswordAttempt): Promise<User> {
  const user = await findUserLocked(tx, by.person.userId);
  if (user?.passwordHash !== verifiedHash) throw verificationFailed('wrong password');
  return user;
}

/** Throws `state_conflict` if a role of the person, at any merchant, requires a second factor. */
export async function requireNoFactorNeeded(tx: Tx, userId: UserId): Promise<void> {
  if (!requiresSecondFactor(await listRolesOf(tx, userId))) return;
  throw stateConflict('One of your roles requires a second factor. Enrol another one before you remove this one.');
}
