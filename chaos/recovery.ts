// How long the service took to recover from each fault, computed from recorded times.
import { truthOf } from './checker/operator-rules.ts';
import type { EventRow } from './checker/records.ts';
import { groupBy, type Case } from './checker/violation.ts';
import type { Fault } from './faults.ts';

/** A step that was due at one moment and done at another. */
type Step = { readonly id: string; readonly what: string; readonly dueAtMs: number; readonly doneAtMs: number };

/** `last` is the last overdue step; null if nothing was overdue. */
export type Recovery = { readonly ms: number; readonly last: Pick<Step, 'id' | 'what'> | null };

/** A longer step counts as delayed. In the demonstration a status poll comes every two seconds. */
const PROMPT_MS = 5000;

/**
 * For each fault, the time from its end until everything overdue at that moment was done; 0 without overdue work.
 * Overlapping faults share their delays.
 */
export function recoveryTimes(faults: readonly Fault[], evidence: Case): Map<number, Recovery> {
  const delayed = stepsOf(evidence).filter(({ dueAtMs, doneAtMs }) => doneAtMs - dueAtMs > PROMPT_MS);
  return new Map(
    faults.map(({ number, healedAtMs }) => {
      const overdue = delayed.filter(({ dueAtMs, doneAtMs }) => dueAtMs < healedAtMs && doneAtMs > healedAtMs);
      const last = overdue.sort((a, b) => b.doneAtMs - a.doneAtMs)[0] ?? null;
      return [number, { ms: last === null ? 0 : last.doneAtMs - healedAtMs, last }];
    }),
  );
}

/** For each fault with a later payment: from its beginning until a payment requested after it reached the operator. */
export function flowsAgainMs(faults: readonly Fault[], { records, operator }: Case): number[] {
  const sends = [...records.collections, ...records.payouts].flatMap(({ createdAt, operatorReference }) => {
    const receivedAtMs = operator.get(operatorReference)?.receivedAtMs;
    return receivedAtMs === undefined ? [] : [{ requestedAtMs: createdAt.getTime(), receivedAtMs }];
  });
  return faults.flatMap(({ begunAtMs }) => {
    const received = sends.filter(({ requestedAtMs }) => requestedAtMs > begunAtMs).map((send) => send.receivedAtMs);
    return received.length > 0 ? [Math.min(...received) - begunAtMs] : [];
  });
}

function stepsOf({ records, operator, received }: Case): Step[] {
  const events = groupBy(records.events, ({ paymentId }) => paymentId ?? '');
  const steps: Step[] = [];
  const add = (id: string, what: string, dueAtMs: number | undefined, doneAtMs: number | undefined) => {
    if (dueAtMs !== undefined && doneAtMs !== undefined) steps.push({ id, what, dueAtMs, doneAtMs });
  };
  for (const row of [...records.collections, ...records.payouts]) {
    const paymentEvents = events.get(row.id) ?? [];
    const sent = operator.get(row.operatorReference);
    const released = paymentEvents.find(({ type }) => type === 'payout.released');
    const mayBeSent = row.id.startsWith('col_') ? row.createdAt : released?.createdAt;
    add(row.id, 'sent', mayBeSent?.getTime(), sent?.receivedAtMs);
    const truth = truthOf(sent);
    if (truth === 'unknown' || truth === 'pending') continue;
    add(row.id, 'outcome recorded', sent?.decidedAtMs ?? undefined, lastOutcome(paymentEvents));
    const reversed = paymentEvents.find(({ type }) => type.endsWith('.reversed'));
    add(row.id, 'return recorded', sent?.givenBackAtMs ?? undefined, reversed?.createdAt.getTime());
  }
  const firstReceived = new Map<string, number>();
  for (const { headers, atMs, status } of received) {
    const id = headers['malipo-event-id'] ?? '';
    if (status === 200 && !firstReceived.has(id)) firstReceived.set(id, atMs);
  }
  for (const { id, createdAt } of records.events)
    add(id, 'webhook received', createdAt.getTime(), firstReceived.get(id));
  return steps;
}

/** When the operator's outcome was recorded. */
function lastOutcome(events: readonly EventRow[]): number | undefined {
  const outcome = events.findLast(({ type }) => /\.(succeeded|failed|expired)$/.test(type));
  return outcome?.createdAt.getTime();
}
