// Rules about reasons: the failure code that merchants see agrees with the operator's records.
import type { OperatorPayment } from './evidence.ts';
import { refundedCollections, truthOf } from './operator-rules.ts';
import type { ReversalRow } from './records.ts';
import { isExplained, OUTAGES, sendsOf } from './send-rules.ts';
import type { Case, Rules, Violation } from './violation.ts';
import { isSentOnce } from './wires.ts';
type Kind = OperatorPayment['kind'];
type Failed = Pick<ReversalRow, 'id' | 'operator' | 'operatorReference' | 'failureCode'>;

type Reasons = Readonly<Record<string, { readonly collection?: string; readonly moneyOut?: string }>>;

/** The failure code for each reason of the operator: for a collection, and for money out. */
const REASONS: Reasons = {
  APPROVAL_REJECTED: { collection: 'payer_cancelled' },
  WRONG_PIN: { collection: 'wrong_pin' },
  EXPIRED: { collection: 'prompt_expired' },
  PAYER_NOT_FOUND: { collection: 'payer_not_found' },
  NOT_ENOUGH_FUNDS: { collection: 'insufficient_funds', moneyOut: 'operator_unavailable' },
  PAYEE_NOT_FOUND: { moneyOut: 'payer_not_found' },
  PAYER_LIMIT_REACHED: { moneyOut: 'payer_limit_reached' },
  PAYEE_NOT_ALLOWED_TO_RECEIVE: { moneyOut: 'operator_rejected' },
  INTERNAL_PROCESSING_ERROR: { moneyOut: 'operator_rejected' },
};

/** What an operator says otherwise than MTN. */
const OTHER_REASONS: Readonly<Record<string, Reasons>> = {
  'airtel-money': {
    PAYER_NOT_FOUND: { collection: 'operator_rejected' },
    PAYEE_NOT_ALLOWED_TO_RECEIVE: { moneyOut: 'operator_unavailable' },
  },
  daraja: {
    PAYER_NOT_FOUND: { collection: 'operator_rejected' },
    PAYEE_NOT_ALLOWED_TO_RECEIVE: { moneyOut: 'payer_not_found' },
    INTERNAL_PROCESSING_ERROR: { moneyOut: 'payer_limit_reached' },
  },
};

/** Where the message with the reason is lost, M-Pesa's status says only that a payout failed. */
const REASON_OF_STATUS = { wire: 'daraja', kind: 'payout', code: 'operator_rejected' };

export const reasonRules: Rules = (evidence: Case) => {
  const { records, operator, interference } = evidence;
  const sends = new Map(sendsOf(evidence).map((send) => [send.id, send]));
  const collections = new Map(records.collections.map((row) => [row.id, row]));
  const refunded = refundedCollections(operator);
  const check = (kind: Kind, row: Failed, refusals: readonly string[]): Violation[] => {
    const sent = operator.get(row.operatorReference);
    const send = sends.get(row.id);
    const isHidden = isSentOnce(row) && send !== undefined && isExplained(send, interference.faults);
    const hidden = kind === 'collection' && isHidden ? ['unknown'] : [];
    const reasons = [...reasonsFor(kind, sent, refusals), ...(truthOf(sent) === 'refused' ? hidden : [])];
    if (row.failureCode === null || reasons.includes(row.failureCode)) return [];
    const text = `its reason is ${row.failureCode}, and for the operator it is ${describe(sent)}`;
    return [{ rule: 'reason_contradicts_operator', id: row.id, text }];
  };
  // The operator refuses a refund whose money was already returned, and keeps no record of it.
  const refusalsOf = ({ collectionId }: ReversalRow): readonly string[] => {
    const reference = collections.get(collectionId)?.operatorReference ?? '';
    if (truthOf(operator.get(reference)) === 'given_back') return ['operator_rejected', 'already_returned'];
    return refunded.has(reference) ? ['operator_rejected'] : [];
  };
  return [
    ...records.collections.flatMap((row) => check('collection', row, [])),
    ...records.payouts.flatMap((row) => check('payout', row, [])),
    ...records.reversals.flatMap((row) => check('refund', row, refusalsOf(row))),
  ];
};

/** The reasons that agree with the operator's records; `refusals` if it may have refused without a record. */
function reasonsFor(kind: Kind, sent: OperatorPayment | undefined, refusals: readonly string[]): readonly string[] {
  const code = sent?.reason?.code ?? '';
  const { collection, moneyOut } = OTHER_REASONS[sent?.wire ?? '']?.[code] ?? REASONS[code] ?? {};
  const isOnlyFailed = sent?.wire === REASON_OF_STATUS.wire && kind === REASON_OF_STATUS.kind;
  const reason = (kind === 'collection' ? collection : moneyOut) ?? 'a reason that the checker does not know';
  switch (truthOf(sent)) {
    case 'unknown':
      // A request that the operator did not accept was nevertheless sent.
      return [...OUTAGES.filter((outage) => outage !== 'service_unavailable' || sent === undefined), ...refusals];
    case 'pending':
      return ['unknown'];
    case 'refused':
      return isOnlyFailed ? [reason, REASON_OF_STATUS.code] : [reason];
    case 'expired':
      // It expired as undecided, and the operator later reported that it had expired there.
      return kind === 'collection' ? [reason, 'unknown'] : [reason];
    case 'paid':
    case 'given_back':
      return [];
  }
}

function describe(sent: OperatorPayment | undefined): string {
  return `${truthOf(sent)}${sent?.reason ? ` (${sent.reason.code})` : ''}`;
}
