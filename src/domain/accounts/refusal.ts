// How many refusals of a person the audit log has one by one, and what it says of the others.
import type { MerchantId, UserId } from '../ids.ts';

/** Of one person, route and reason, in a window that begins with the first. */
export const REFUSALS_RECORDED = 10;
export const REFUSAL_WINDOW_MS = 60 * 60_000;

/** The refusals of one person by one route and for one reason, in one window. */
export type RefusalCount = {
  readonly merchantId: MerchantId;
  readonly userId: UserId;
  readonly action: string;
  readonly reason: string;
  readonly beganAt: Date;
  readonly endsAt: Date;
  readonly times: number;
};

/** What the entry for those says that have none of their own; null: all have one. */
export function leftOutOf({ reason, beganAt, endsAt, times }: RefusalCount): object | null {
  const further = times - REFUSALS_RECORDED;
  return further > 0 ? { reason, further, from: beganAt, to: endsAt } : null;
}
