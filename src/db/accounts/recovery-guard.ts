// Keeps requests of an account from before its recovery from taking effect after it.
import { permissionDenied, type ActedBy, type Person } from '../../domain/accounts/member.ts';
import { statement, type Tx } from '../platform/database.ts';
import { lockMembers } from './member.ts';
import { findUser } from './user.ts';

/**
 * Throws `permission_denied` if the person's account was recovered after their session was read: that session has
 * ended. Call it under a lock that a recovery also takes, of merchant or membership: else a concurrent one is missed.
 */
export async function requireNotRecovered(tx: Tx, { userId, recoveredAt }: Person): Promise<void> {
  const user = await findUser(tx, userId);
  // The exact value, without a comparison of clocks.
  if (user?.recoveredAt?.getTime() === recoveredAt?.getTime()) return;
  throw permissionDenied('the account was recovered meanwhile');
}

/** As `lockMembers`, for an act of this person. Throws `permission_denied` if the account was recovered meanwhile. */
export async function lockMembersAs(tx: Tx, { person }: ActedBy): Promise<void> {
  await lockMembers(tx, person.merchantId);
  await requireNotRecovered(tx, person);
}

const LOCK_MEMBERSHIPS = statement('membership_lock_of_user')`
  SELECT 1 FROM members WHERE user_id = $1 ORDER BY merchant_id FOR NO KEY UPDATE`;

/** Until this transaction ends the person approves nothing, at any merchant. */
export async function lockMemberships(tx: Tx, userId: Person['userId']): Promise<void> {
  await tx.run(LOCK_MEMBERSHIPS, [userId]);
}
