// Rules about the operator: states agree with its records; nothing was sent twice, unrecorded, or without a release.
import type { OperatorPayment } from './evidence.ts';
import type { CollectionRow, PayoutRow, Records, ReversalRow } from './records.ts';
import { groupBy, type Case, type Rules, type Violation } from './violation.ts';
import { hasReceipt, isReturnTold, isSentOnce, minorAmountOf } from './wires.ts';

export const operatorRules: Rules = (evidence) => [
  ...checkStates(evidence),
  ...checkKnown(evidence),
  ...checkSameFields(evidence),
  ...checkSentOnce(evidence),
  ...checkReleased(evidence),
  ...evidence.records.discrepancies.map(({ paymentId, kind }): Violation => ({
    rule: 'discrepancy',
    id: paymentId,
    text: `the service found: ${kind}`,
  })),
];

/** The operator's record of a payment, in one word. */
export type Truth = 'unknown' | 'pending' | 'paid' | 'expired' | 'refused' | 'given_back';

export function truthOf(payment: OperatorPayment | undefined): Truth {
  if (payment === undefined || payment.state === 'NOT_ACCEPTED') return 'unknown';
  if (payment.givenBackAtMs !== null) return isReturnTold(payment) ? 'given_back' : 'paid';
  if (payment.state === 'PENDING') return 'pending';
  if (payment.state === 'SUCCESSFUL') return 'paid';
  return payment.reason?.code === 'EXPIRED' ? 'expired' : 'refused';
}

/** The states that agree with each truth. The rules of progress judge states with an awaited outcome. */
const COLLECTION_STATES: Readonly<Record<Truth, readonly string[]>> = {
  unknown: ['expired', 'failed'],
  // It expires as `unknown` if the operator never decides.
  pending: ['expired'],
  paid: ['succeeded'],
  expired: ['expired'],
  refused: ['failed'],
  given_back: ['reversed'],
};
/** A prompt that is sent once expires as `unknown` if its id is lost with every message about it. The rules of reasons judge when. */
const ONCE_STATES = { ...COLLECTION_STATES, refused: ['failed', 'expired'] };
const PAYOUT_STATES: Readonly<Record<Truth, readonly string[]>> = {
  unknown: ['queued', 'rejected', 'cancelled', 'expired', 'failed'],
  pending: [],
  paid: ['succeeded'],
  expired: ['failed'],
  refused: ['failed'],
  given_back: ['reversed'],
};
/** The operator returns no refund. */
const REVERSAL_STATES = { ...PAYOUT_STATES, given_back: [] };
/** Where only its collection shows a refund, the return of the collection by the operator itself is the refund too. */
const RETURNED_STATES = { ...REVERSAL_STATES, unknown: [...PAYOUT_STATES.unknown, 'succeeded'] };
const AWAITED = ['initiated', 'prompted', 'released', 'reconciling'];

function checkStates({ records, operator }: Case): Violation[] {
  const refunded = refundedCollections(operator);
  const collections = new Map(records.collections.map((row) => [row.id, operator.get(row.operatorReference)]));
  const isReturned = (row: ReversalRow) =>
    isSentOnce(row) && truthOf(collections.get(row.collectionId)) === 'given_back';
  const check = (
    { id, state, operatorReference }: { id: string; state: string; operatorReference: string },
    states: Readonly<Record<Truth, readonly string[]>>,
  ): Violation[] => {
    const truth = truthOf(operator.get(operatorReference));
    const isRefunded = truth === 'paid' && refunded.has(operatorReference);
    const right = isRefunded ? ['reversed'] : states[truth];
    if (AWAITED.includes(state) || right.includes(state)) return [];
    const text = `it is ${state}, and for the operator it is ${isRefunded ? 'refunded' : truth}`;
    return [{ rule: 'state_contradicts_operator', id, text }];
  };
  return [
    ...records.collections.flatMap((row) => check(row, isSentOnce(row) ? ONCE_STATES : COLLECTION_STATES)),
    ...records.payouts.flatMap((row) => check(row, PAYOUT_STATES)),
    ...records.reversals.flatMap((row) => check(row, isReturned(row) ? RETURNED_STATES : REVERSAL_STATES)),
  ];
}

/** The operator's references of the collections that it refunded. */
export function refundedCollections(operator: Case['operator']): Set<string> {
  const paid = [...operator.values()].filter((payment) => payment.kind === 'refund' && truthOf(payment) === 'paid');
  return new Set(paid.map(({ originalReference }) => originalReference ?? ''));
}

type SentRow = CollectionRow | PayoutRow | ReversalRow;

function rowsByReference({ records }: Case): Map<string, SentRow> {
  const rows: SentRow[] = [...records.collections, ...records.payouts, ...records.reversals];
  return new Map(rows.map((row) => [row.operatorReference, row]));
}

function checkKnown(evidence: Case): Violation[] {
  const recordedRows = rowsByReference(evidence);
  return [...evidence.operator.values()]
    .filter(({ operatorReference }) => !recordedRows.has(operatorReference))
    .map(({ operatorReference, kind, phone }) => ({
      rule: 'operator_payment_unknown',
      id: operatorReference,
      text: `the operator has a ${kind} for ${phone} that no row names`,
    }));
}

function checkSameFields(evidence: Case): Violation[] {
  const collections = new Map(evidence.records.collections.map((row) => [row.id, row]));
  return [...rowsByReference(evidence)].flatMap(([reference, row]): Violation[] => {
    const sent = evidence.operator.get(reference);
    if (!sent) return [];
    const payment = 'collectionId' in row ? collections.get(row.collectionId) : row;
    if (!payment) return [];
    const receipt = 'operatorReceipt' in row ? row.operatorReceipt : null;
    const differences = [
      minorAmountOf(sent) !== payment.amount && `amount ${minorAmountOf(sent)}, here ${payment.amount}`,
      sent.currency !== payment.currency && `currency ${sent.currency}, here ${payment.currency}`,
      sent.phone !== payment.phone && `phone ${sent.phone}, here ${payment.phone}`,
      receipt !== null && !hasReceipt(sent, receipt) && `receipt ${sent.financialTransactionId}, here ${receipt}`,
    ].filter((difference) => difference !== false);
    return differences.map((difference) => ({
      rule: 'operator_payment_differs',
      id: row.id,
      text: `at the operator it has ${difference}`,
    }));
  });
}

function checkSentOnce(evidence: Case): Violation[] {
  const { operator } = evidence;
  const accepted = [...operator.values()].filter(({ state }) => state !== 'NOT_ACCEPTED');
  const rows = rowsByReference(evidence);
  const twice = (payment: OperatorPayment, text: string): Violation => ({
    rule: 'sent_twice',
    id: rows.get(payment.operatorReference)?.id ?? payment.operatorReference,
    text,
  });
  const byReference = accepted.flatMap((payment) => {
    const times = payment.kind === 'collection' ? payment.promptsRaised : payment.transfersTaken;
    return times === 1 ? [] : [twice(payment, `the operator executed it ${times} times`)];
  });
  // Each payment of a campaign has a phone of its own; a collection has one refund that did not fail.
  const live = accepted.filter(({ kind, state }) => kind !== 'refund' || state !== 'FAILED');
  const groups = groupBy(live, ({ kind, phone, originalReference }) => `${kind} ${originalReference ?? phone}`);
  const bySubject = [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first && group.length > 1
      ? [twice(first, `the operator has ${group.length} of it under different references`)]
      : [];
  });
  const refunded = refundedCollections(operator);
  const givenBackTwice = accepted
    .filter(({ operatorReference, givenBackAtMs }) => givenBackAtMs !== null && refunded.has(operatorReference))
    .map((payment) => twice(payment, 'the operator returned it, and refunded it too'));
  return [...byReference, ...bySubject, ...givenBackTwice];
}

/** By the policy of its merchant, which no campaign changes, and by the number that the service itself requires. */
export function approvalsNeeded(
  { merchantId, amount, approvalsRequired }: PayoutRow | ReversalRow,
  { policies }: Pick<Records, 'policies'>,
): number {
  const limit = policies.find((policy) => policy.merchantId === merchantId)?.twoApproversAbove ?? null;
  return Math.max(approvalsRequired, limit !== null && amount > limit ? 2 : 1);
}

function checkReleased({ operator, records }: Case): Violation[] {
  const approvals = groupBy(records.approvals, ({ paymentId }) => paymentId);
  return [...records.payouts, ...records.reversals].flatMap((row): Violation[] => {
    const sent = operator.get(row.operatorReference);
    if (!sent) return [];
    const before = (approvals.get(row.id) ?? []).filter(({ approvedAt }) => approvedAt.getTime() <= sent.receivedAtMs);
    const others = new Set(before.map(({ userId }) => userId));
    others.delete(row.createdBy);
    const needed = approvalsNeeded(row, records);
    if (others.size >= needed) return [];
    const text = `it was sent after ${others.size} of ${needed} approvals by others than its maker`;
    return [{ rule: 'sent_without_release', id: row.id, text }];
  });
}
