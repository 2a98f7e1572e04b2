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
import { findOne, statement, type Queryable } from '../database.ts';

const FIND_BEGINNINGS = statement(
  'waiting_time_find_beginnings',
  `SELECT m.approver_since, u.recovered_at
   FROM users u LEFT JOIN members m ON m.merchant_id = $1 AND m.user_id = u.id WHERE u.id = $2`,
);

export async function findBeginnings(db: Queryable, merchantId: MerchantId, userId: UserId): Promise<Beginnings> {
  const found = await findOne<Beginnings>(db, FIND_BEGINNINGS, [merchantId, userId]);
  return found ?? { approverSince: null, recoveredAt: null };
}

/** Who would move money of which merchant. */
type MoneyMove = {
  readonly merchantId: MerchantId;
  readonly userId: UserId;
  readonly policy: Policy;
  readonly environment: Environment;
  readonly at: Date;
};

/**
 * Throws `permission_denied` during the person's waiting time, or for an API key of theirs `insufficient_scope`, and
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

const FIND_RECOVERY_BEFORE_KEY = statement(
  'waiting_time_find_recovery_before_key',
  `SELECT NULL AS approver_since, u.recovered_at
   FROM api_keys k JOIN users u ON u.id = $2 WHERE k.id = $1 AND k.created_at >= u.recovered_at`,
);

// By an API key, it counts only from a recovery of the maker's account before the key was created, since nobody learns an
// older key by a recovery.
async function requireKeyWaited(db: Queryable, keyId: ApiKeyId, move: MoneyMove): Promise<void> {
  const waitMs = waitingTimeMs(move.environment, move.policy);
  if (waitMs === 0) return;
  const found = await findOne<Beginnings>(db, FIND_RECOVERY_BEFORE_KEY, [keyId, move.userId]);
  const from = found && movesMoneyFrom(found, waitMs);
  if (from === null || move.at >= from) return;
  throw new DomainError(
    'insufficient_scope',
    `The account of the person who made this key was recovered before: it creates no payouts before ${from.toISOString()}.`,
  );
}

const COUNT_OWNERS = statement('waiting_time_count_owners', 'SELECT count_secured_owners($1)::int AS count');

/** Whether too few owners of the merchant have a second factor for money to leave it. */
export async function lacksSecondOwner(
  db: Queryable,
  merchantId: MerchantId,
  environment: Environment,
): Promise<boolean> {
  // No number of owners is too small in the test environment.
  if (!needsSecondOwner(environment, 0)) return false;
  const [row] = await db.run<{ count: number }>(COUNT_OWNERS, [merchantId]);
  return needsSecondOwner(environment, row?.count ?? 0);
}
