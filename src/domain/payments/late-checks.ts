// When a final payment is rechecked, and whether the status says more than is recorded. Pure.
import type { Clocks, PaymentClocks } from '../clocks.ts';
import { LIFECYCLES, type PaymentSnapshot } from './lifecycle.ts';
import { contradictionIn } from './discrepancy.ts';
import type { OperatorStatus, QueriedStatus } from './operator-status.ts';
import { isRecheckable, type PaymentKind, type PaymentState } from './payment.ts';

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

/** What a recheck found. `failure`: it could not be made, for a reason of ours. */
export type RecheckFinding = 'nothing_new' | 'transition' | 'contradiction' | 'no_status' | 'failure';

/**
 * When the payment is rechecked next; null when nothing more is awaited. Only `nothing_new` leads to the next late check alone.
 * Otherwise the payment is rechecked after as long as its outcome, or the last callback, is ago, up to a day, or at its next
 * late check if that is earlier: what is news must be found again if the workflow that should record it is lost. Once that is
 * `recheckForMs` ago, a contradiction has been recorded, and without a status the payment is given up, as `isGivenUp` says.
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

/** What the status of a final payment says that may not be recorded: another state, a contradiction, or nothing. */
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

/** Whether the status leaves open what it was queried for. Of what expired, `pending` says that it is still not paid. */
export function isStatusMissing(state: PaymentState, { kind }: OperatorStatus): boolean {
  return kind === 'unknown' || kind === 'unreadable' || kind === 'asked' || (kind === 'pending' && isRecheckable(state));
}
