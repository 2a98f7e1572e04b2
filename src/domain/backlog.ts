// The backlog: accepted payments that wait for the service to carry them out, and the limits of their number and age.
import type { MerchantId } from './ids.ts';

export type MerchantBacklog = {
  readonly merchantId: MerchantId;
  readonly count: number;
  /** How many of them have waited longer than the limit and can still be sent in time. */
  readonly lateCount: number;
  readonly oldestAgeMs: number;
};

export type BacklogLimits = {
  readonly maxCount: number;
  readonly maxPerMerchant: number;
  /** Work that has waited longer is late. */
  readonly maxAgeMs: number;
};

export type Backlog = Omit<MerchantBacklog, 'merchantId'> & {
  /** The merchants whose own share is too large: they are refused new payments. */
  readonly fullMerchants: ReadonlySet<MerchantId>;
};

export const EMPTY_BACKLOG: Backlog = { count: 0, lateCount: 0, oldestAgeMs: 0, fullMerchants: new Set() };

export function backlogOf(parts: readonly MerchantBacklog[], { maxPerMerchant }: BacklogLimits): Backlog {
  return {
    count: parts.reduce((sum, { count }) => sum + count, 0),
    lateCount: parts.reduce((sum, { lateCount }) => sum + lateCount, 0),
    oldestAgeMs: Math.max(0, ...parts.map(({ oldestAgeMs }) => oldestAgeMs)),
    fullMerchants: new Set(parts.filter(({ count }) => count >= maxPerMerchant).map(({ merchantId }) => merchantId)),
  };
}
