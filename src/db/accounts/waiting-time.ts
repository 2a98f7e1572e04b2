// Whether a person may move money of a merchant now: after their waiting time, and while the merchant has two owners.
import {
  movesMoneyFrom,
  needsSecondOwner,
  requireWaited,
  secondOwnerNeeded,
  waitingTimeMs,
  type Beginnings,
} from '../../domain/accounts/waiting-time.ts';
import type { Policy } from '../../domain/accounts/policy.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import type { ApiKeyId, MerchantId, UserId } from '../../domain/ids.ts';
import type { Queryable } from '../platform/database.ts';
import { findApiKeyCreation } from './api-key.ts';
import { findMembership, listAttestedMemberships, type Membership } from './member.ts';
import { factorsOf, hasAny } from './second-factor.ts';
import { findUser, listUsers } from './user.ts';

export async function findBeginnings(db: Queryable, merchantId: MerchantId, userId: UserId): Promise<Beginnings> {
  const membership = await findMembership(db, merchantId, userId);
  const user = await findUser(db, userId);
  return { approverSince: membership?.approverSince ?? null, recoveredAt: user?.recoveredAt ?? null };
}

/** Who would move money, and of which merchant. */
export type MoneyMove = {
  readonly merchantId: MerchantId;
  readonly userId: UserId;
  readonly policy: Policy;
  readonly environment: Environment;
  readonly at: Date;
};

/**
 * Throws `permission_denied` during the person's waiting time, or `insufficient_scope` for an API key of theirs, and
 * `state_conflict` while too few owners of the merchant have a second factor for money to leave it.
 */
export async function requireMayMoveMoney(
  db: Queryable,
  move: MoneyMove,
  keyId: ApiKeyId | null = null,
): Promise<void> {
  await (keyId === null ? requirePersonWaited(db, move) : requireKeyWaited(db, keyId, move));
  const { merchantId, environment } = move;
  if (await lacksSecondOwner(db, merchantId, environment)) throw secondOwnerNeeded();
}

async function requirePersonWaited(db: Queryable, move: MoneyMove): Promise<void> {
  const { merchantId, userId, policy, environment, at } = move;
  const waitMs = waitingTimeMs(environment, policy);
  if (waitMs === 0) return;
  requireWaited(movesMoneyFrom(await findBeginnings(db, merchantId, userId), waitMs), at);
}

/** The members whose waiting time, if any, is over. */
export async function membersPastWaitingTime(
  db: Queryable,
  members: readonly Membership[],
  { policy, environment, at }: Omit<MoneyMove, 'userId'>,
): Promise<Membership[]> {
  const waitMs = waitingTimeMs(environment, policy);
  if (waitMs === 0) return [...members];
  const users = await listUsers(
    db,
    members.map(({ userId }) => userId),
  );
  return members.filter(({ userId, approverSince }) => {
    const user = users.find(({ id }) => id === userId);
    const from = user && movesMoneyFrom({ approverSince, recoveredAt: user.recoveredAt }, waitMs);
    return from !== undefined && (from === null || from <= at);
  });
}

// For an API key, the waiting time counts only from a recovery before the creation of the key: a recovery reveals no
// older key.
async function requireKeyWaited(db: Queryable, keyId: ApiKeyId, move: MoneyMove): Promise<void> {
  const waitMs = waitingTimeMs(move.environment, move.policy);
  if (waitMs === 0) return;
  const createdAt = await findApiKeyCreation(db, keyId);
  const recoveredAt = (await findUser(db, move.userId))?.recoveredAt ?? null;
  if (recoveredAt === null || (createdAt !== null && createdAt < recoveredAt)) return;
  const from = movesMoneyFrom({ approverSince: null, recoveredAt }, waitMs);
  if (from === null || move.at >= from) return;
  throw new DomainError(
    'insufficient_scope',
    `The account of the person who created this key was recovered. The key creates no payouts before ${from.toISOString()}.`,
  );
}

/** Whether too few owners of the merchant have a second factor for money to leave it. */
export async function lacksSecondOwner(
  db: Queryable,
  merchantId: MerchantId,
  environment: Environment,
): Promise<boolean> {
  // No number of owners is too small in the test environment.
  if (!needsSecondOwner(environment, 0)) return false;
  // An owner with an unattested row does not count: then money waits rather than leaves.
  const owners = (await listAttestedMemberships(db, merchantId)).filter(({ roles }) => roles.includes('owner'));
  const users = await listUsers(
    db,
    owners.map(({ userId }) => userId),
  );
  return needsSecondOwner(environment, users.filter((user) => hasAny(factorsOf(user))).length);
}
