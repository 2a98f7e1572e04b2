// Refusals of a person in the audit log: a limited number of a kind an hour as entries, all further ones as one count.
import type { ActedBy } from '../../domain/accounts/member.ts';
import type { MerchantId, UserId } from '../../domain/ids.ts';
import { statement, type Tx } from '../platform/database.ts';
import { actorOf, insertAuditEntry, type Act } from './audit.ts';

/** The refusal of a person. Its action is method and route, because no named act happened. */
export type Refusal = Pick<Act, 'action' | 'subjectId' | 'at'> & { readonly reason: string };

/** The refusals of one person by one route and for one reason, in a window that begins with the first refusal. */
type RefusalCount = {
  readonly merchantId: MerchantId;
  readonly userId: UserId;
  readonly action: string;
  readonly reason: string;
  readonly beganAt: Date;
  readonly endsAt: Date;
  readonly times: number;
};

/** How many refusals of a window have their own entry. */
const REFUSALS_RECORDED = 10;
const REFUSAL_WINDOW_MS = 60 * 60_000;

const COUNT_COLUMNS = 'merchant_id, user_id, action, reason, began_at, ends_at, times';
const TAKE_ENDED_OF = statement('refusal_count_take_ended_of')`
  DELETE FROM refusal_counts WHERE merchant_id = $1 AND user_id = $2 AND action = $3 AND reason = $4 AND ends_at <= $5
  RETURNING ${COUNT_COLUMNS}`;
// Under the row's own lock, so that concurrent refusals get different numbers.
const COUNT = statement('refusal_count_count')`
  INSERT INTO refusal_counts AS c (${COUNT_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, 1)
  ON CONFLICT (merchant_id, user_id, action, reason) DO UPDATE SET times = c.times + 1
  RETURNING times`;

/**
 * Counts the refusal, and adds an entry unless its kind has too many in this hour. The omitted refusals of an earlier
 * hour get their entry first.
 */
export async function recordRefusal(tx: Tx, by: ActedBy, { reason, ...refusal }: Refusal): Promise<void> {
  const { merchantId, userId } = by.person;
  const { action, at } = refusal;
  const key = [merchantId, userId, action, reason];
  await recordLeftOut(tx, await tx.run<RefusalCount>(TAKE_ENDED_OF, [...key, at]), at);
  const endsAt = new Date(at.getTime() + REFUSAL_WINDOW_MS);
  const [counted] = await tx.run<{ times: number }>(COUNT, [...key, at, endsAt]);
  if (counted && counted.times > REFUSALS_RECORDED) return;
  await insertAuditEntry(tx, { ...refusal, ...actorOf(by), outcome: 'refused', after: { reason } });
}

const TAKE_ENDED = statement('refusal_count_take_ended')`
  DELETE FROM refusal_counts WHERE (merchant_id, user_id, action, reason) IN (
    SELECT merchant_id, user_id, action, reason FROM refusal_counts WHERE ends_at <= $1
    ORDER BY ends_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING ${COUNT_COLUMNS}`;

/** Adds the entries of at most `limit` completed hours; returns how many hours it read. */
export async function recordEndedRefusals(tx: Tx, at: Date, limit: number): Promise<number> {
  const ended = await tx.run<RefusalCount>(TAKE_ENDED, [at, limit]);
  await recordLeftOut(tx, ended, at);
  return ended.length;
}

async function recordLeftOut(tx: Tx, ended: readonly RefusalCount[], at: Date): Promise<void> {
  for (const { merchantId, userId, action, reason, beganAt, endsAt, times } of ended) {
    const further = times - REFUSALS_RECORDED;
    if (further <= 0) continue;
    const after = { reason, further, from: beganAt, to: endsAt };
    await insertAuditEntry(tx, { merchantId, userId, action, outcome: 'refused', subjectId: null, after, at });
  }
}
