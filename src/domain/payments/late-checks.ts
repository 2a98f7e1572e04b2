// When a final payment is rechecked, and whether the status says more than is recorded. Pure.
import type { Clocks, PaymentClocks } from '../clocks.ts';
import { LIFECYCLES, type PaymentSnapshot } from './lifecycle.ts';
import type { AttestedStatus } from './operator-status.ts';
import type { PaymentKind } from './payment.ts';
import { contradictionIn } from './send-progress.ts';

/** Why a final payment is rechecked even if nobody calls back about it: what its money may still do. */
export type LateCheckReason = 'may_be_paid' | 'may_be_returned';

type LateCheckClocks = Pick<Clocks, 'lateCheckAgesMs' | 'returnCheckAgesMs'>;

/** When what ended at that time is rechecked first; null: only after a callback. */
export function firstLateCheckAt(reason: LateCheckReason | null, endedAt: Date, clocks: LateCheckClocks): Date | null {
  return nextLateCheckAt(reason, endedAt, endedAt, clocks);
}

// The ages that have passed meanwhile are not made up for.
function nextLateCheckAt(
  reason: LateCheckReason | null,
  endedAt: Date,
  after: Date,
  { lateCheckAgesMs, returnCheckAgesMs }: LateCheckClocks,
): Date | null {
  if (reason === null) return null;
  const ages = reason === 'may_be_paid' ? lateCheckAgesMs : returnCheckAgesMs;
  const times = ages.map((ageMs) => endedAt.getTime() + ageMs).filter((time) => time > after.getTime());
  return times.length === 0 ? null : new Date(Math.min(...times));
}

/** What the time of the next recheck of a final payment depends on. */
export type Rechecked = {
  readonly reason: LateCheckReason | null;
  readonly endedAt: Date;
  /** The last callback that is stored. */
  readonly calledBackAt: Date | null;
};

const LONGEST_GAP_MS = 24 * 3_600_000;

/**
 * When the payment is rechecked next; null when nothing more is awaited. Without a status it is rechecked after as long as
 * its outcome, or the last callback, is ago, up to a day; or at its next late check if that is earlier. `isGivenUp` says that
 * this ends, because that is `recheckForMs` ago.
 */
export function nextRecheck(
  { reason, endedAt, calledBackAt }: Rechecked,
  hasStatus: boolean,
  at: Date,
  clocks: LateCheckClocks & Pick<Clocks, 'staleAfterMs' | 'recheckForMs'>,
): { readonly dueAt: Date | null; readonly isGivenUp: boolean } {
  const lateCheckAt = nextLateCheckAt(reason, endedAt, at, clocks);
  if (hasStatus) return { dueAt: lateCheckAt, isGivenUp: false };
  const sinceMs = at.getTime() - Math.max(endedAt.getTime(), calledBackAt?.getTime() ?? 0);
  if (sinceMs >= clocks.recheckForMs) return { dueAt: lateCheckAt, isGivenUp: lateCheckAt === null };
  const gapMs = Math.min(LONGEST_GAP_MS, Math.max(clocks.staleAfterMs, sinceMs));
  const retryAt = new Date(at.getTime() + gapMs);
  return { dueAt: lateCheckAt !== null && lateCheckAt < retryAt ? lateCheckAt : retryAt, isGivenUp: false };
}

/** Whether the status of a final payment says what is not recorded: another state follows, or a discrepancy. */
export function isNews<Kind extends PaymentKind>(
  kind: Kind,
  snapshot: PaymentSnapshot<Kind>,
  attested: AttestedStatus,
  clocks: PaymentClocks,
): boolean {
  if (contradictionIn(snapshot.state, attested.status) !== null) return true;
  return LIFECYCLES[kind].next(snapshot, attested, clocks) !== null;
}
