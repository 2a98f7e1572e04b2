// When a final payment is rechecked, and whether the status says anything new. Pure.
import type { Clocks, PaymentClocks } from '../clocks.ts';
import { LIFECYCLES, type PaymentSnapshot } from './lifecycle.ts';
import { contradictionIn } from './discrepancy.ts';
import type { OperatorStatus, QueriedStatus } from './operator-status.ts';
import { isRecheckable, type PaymentKind, type PaymentState } from './payment.ts';

/** Why a final payment is rechecked even without a callback: the money may still be paid or returned. */
export type LateCheckReason = 'may_be_paid' | 'may_be_returned';

type LateCheckClocks = Pick<Clocks, 'lateCheckAgesMs' | 'returnCheckAgesMs'>;

/** When a payment that ended at `endedAt` is first rechecked; null: only after a callback. */
export function firstLateCheckAt(reason: LateCheckReason | null, endedAt: Date, clocks: LateCheckClocks): Date | null {
  return nextLateCheckAt(reason, endedAt, endedAt, clocks);
}

// Ages that have already passed are skipped.
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

/** The data that determines when a final payment is rechecked next. */
export type Rechecked = {
  readonly reason: LateCheckReason | null;
  readonly endedAt: Date;
  /** The time of the last stored callback. */
  readonly calledBackAt: Date | null;
};

const LONGEST_GAP_MS = 24 * 3_600_000;

/** The result of a recheck. `failure`: the recheck could not be made, for a reason of ours. */
export type RecheckFinding = 'nothing_new' | 'transition' | 'contradiction' | 'no_status' | 'failure';

/**
 * When the payment is rechecked next; null when nothing more is awaited. After `nothing_new`, only the next late check follows.
 * After any other finding, the wait equals the time since the outcome or the last callback, up to a day, or ends at the next late
 * check if that is earlier: the news must be found again if the workflow that should record it is lost. Once that time reaches
 * `recheckForMs`, a contradiction has been recorded, and a payment without a status is given up (`isGivenUp`).
 */
export function nextRecheck(
  { reason, endedAt, calledBackAt }: Rechecked,
  finding: RecheckFinding,
  at: Date,
  clocks: LateCheckClocks & Pick<Clocks, 'staleAfterMs' | 'recheckForMs'>,
): { readonly dueAt: Date | null; readonly isGivenUp: boolean } {
  const lateCheckAt = nextLateCheckAt(reason, endedAt, at, clocks);
  if (finding === 'nothing_new') return { dueAt: lateCheckAt, isGivenUp: false };
  const sinceMs = at.getTime() - Math.max(endedAt.getTime(), calledBackAt?.getTime() ?? 0);
  const mayEnd = finding === 'no_status' || finding === 'contradiction';
  if (mayEnd && sinceMs >= clocks.recheckForMs) {
    return { dueAt: lateCheckAt, isGivenUp: lateCheckAt === null && finding === 'no_status' };
  }
  const gapMs = Math.min(LONGEST_GAP_MS, Math.max(clocks.staleAfterMs, sinceMs));
  const retryAt = new Date(at.getTime() + gapMs);
  return { dueAt: lateCheckAt !== null && lateCheckAt < retryAt ? lateCheckAt : retryAt, isGivenUp: false };
}

/** The finding in the status of a final payment: a transition or contradiction that may be unrecorded, no status, or nothing new. */
export function findingIn<Kind extends PaymentKind>(
  kind: Kind,
  snapshot: PaymentSnapshot<Kind>,
  queried: QueriedStatus,
  clocks: PaymentClocks,
): Exclude<RecheckFinding, 'failure'> {
  const { state } = snapshot;
  if (LIFECYCLES[kind].next(snapshot, queried, clocks) !== null) return 'transition';
  if (contradictionIn(kind, state, queried.status) !== null) return 'contradiction';
  return isStatusMissing(state, queried.status) ? 'no_status' : 'nothing_new';
}

/** Whether the status does not answer the query. For an expired payment `pending` is an answer: the payment is still not paid. */
export function isStatusMissing(state: PaymentState, { kind }: OperatorStatus): boolean {
  return (
    kind === 'unknown' || kind === 'unreadable' || kind === 'asked' || (kind === 'pending' && isRecheckable(state))
  );
}
