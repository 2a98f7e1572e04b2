// Rules about sends: each due send reached the operator, unless a part that was broken at that time explains it.
import type { BrokenPart, RecordedFault } from './evidence.ts';
import { truthOf } from './operator-rules.ts';
import type { ReversalRow } from './records.ts';
import { groupBy, type Case, type Rules } from './violation.ts';
import { isLeftUnknown } from './wires.ts';

/** A payment that had to be sent, with the time in which it could be. */
export type Send = {
  readonly kind: 'collection' | 'payout' | 'reversal';
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Why it ended without the operator; null if the operator has it, or it was not given up. */
  readonly outage: string | null;
};

/** Nothing is sent without them. Sends need no receiver of webhooks. */
const NEEDED: readonly BrokenPart[] = ['server', 'temporal', 'postgres', 'operator'];

/**
 * How long an ended fault may still delay sends: work stays with a dead dispatcher for this long, which is also the
 * longest wait between two tries of a transaction.
 */
export const CATCH_UP_MS = 30_000;

/** Nothing was sent; it was sent and never accepted; it is unknown. */
export const OUTAGES = ['service_unavailable', 'operator_unavailable', 'unknown'];

export const sendRules: Rules = (evidence) =>
  sendsOf(evidence).flatMap((send) => {
    if (send.outage === null || isExplained(send, evidence.interference.faults)) return [];
    const span = `from ${new Date(send.fromMs).toISOString()} to ${new Date(send.untilMs).toISOString()}`;
    const text = `it ended as ${send.outage}, and nothing was broken ${span} that explains it`;
    return [{ rule: 'never_sent', id: send.id, text }];
  });

/** Whether a fault could prevent the payment's send in its time. */
export function isExplained(
  { fromMs, untilMs }: Pick<Send, 'fromMs' | 'untilMs'>,
  faults: readonly RecordedFault[],
): boolean {
  return faults.some(
    ({ hits, begunAtMs, healedAtMs }) =>
      NEEDED.includes(hits) && begunAtMs <= untilMs && (healedAtMs ?? Infinity) + CATCH_UP_MS >= fromMs,
  );
}

/** Everything that had to be sent: payouts and refunds from their release, a refund's last approval, on. */
export function sendsOf({ records, operator }: Case): Send[] {
  const events = groupBy(records.events, ({ paymentId }) => paymentId ?? '');
  const releasedAt = (id: string): Date | null =>
    events.get(id)?.find(({ type }) => type === 'payout.released')?.createdAt ?? null;
  const approvals = groupBy(records.approvals, ({ paymentId }) => paymentId);
  type Row = Pick<ReversalRow, 'id' | 'operatorReference' | 'sendDeadlineAt' | 'failureCode'>;
  const send = (kind: Send['kind'], from: Date | null, row: Row): Send[] => {
    if (from === null || row.sendDeadlineAt === null) return [];
    const sent = operator.get(row.operatorReference);
    const isUnknown = truthOf(sent) === 'unknown' && !isLeftUnknown(sent);
    const isOutage = isUnknown && OUTAGES.includes(row.failureCode ?? '');
    const outage = isOutage ? row.failureCode : null;
    return [{ kind, id: row.id, fromMs: from.getTime(), untilMs: row.sendDeadlineAt.getTime(), outage }];
  };
  return [
    ...records.collections.flatMap((row) => send('collection', row.createdAt, row)),
    ...records.payouts.flatMap((row) => send('payout', releasedAt(row.id), row)),
    ...records.reversals.flatMap((row) => send('reversal', approvals.get(row.id)?.at(-1)?.approvedAt ?? null, row)),
  ];
}
