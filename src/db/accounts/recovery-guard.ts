// Keeps what an account asked for before its recovery from taking effect after it.
import { permissionDenied, type ActedBy, type Person } from '../../domain/accounts/member.ts';
import { statement, type Tx } from '../platform/database.ts';
import { lockMembers } from './member.ts';
import { findUser } from './user.ts';

/**
 * Throws `permission_denied` when the person's account was recovered since their session was read: it has ended then. Call it under
 * a lock that a recovery takes too, of the merchant or of the membership, or one that is under way is not seen.
 */
export async function requireNotRecovered(tx: Tx, { userId, recoveredAt }: Person): Promise<void> {
  const user = await findUser(tx, userId);
  // The very value, and no comparison of clocks.
  if (user?.recoveredAt?.getTime() === recoveredAt?.getTime()) return;
  throw permissionDenied('the account was recovered meanwhile');
}

/** Like `lockMembers`, for what this person does. Throws `permission_denied` when their account was recovered meanwhile. */
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
