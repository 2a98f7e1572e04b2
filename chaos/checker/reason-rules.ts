// Rules about reasons: what merchants are told of a payment that did not succeed is what the operator knows of it.
import type { OperatorPayment } from './evidence.ts';
import { refundedCollections, truthOf } from './operator-rules.ts';
import type { ReversalRow } from './records.ts';
import { OUTAGES } from './send-rules.ts';
import type { Case, Rules, Violation } from './violation.ts';

type Kind = OperatorPayment['kind'];
type Failed = Pick<ReversalRow, 'id' | 'operatorReference' | 'failureCode'>;

/** What a merchant is told for each reason of the operator: about a collection, and about money that we pay. */
const REASONS: Readonly<Record<string, { readonly collection?: string; readonly moneyOut?: string }>> = {
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

export const reasonRules: Rules = ({ records, operator }: Case) => {
  const collections = new Map(records.collections.map((row) => [row.id, row]));
  const refunded = refundedCollections(operator);
  const check = (kind: Kind, row: Failed, refusals: readonly string[]): Violation[] => {
    const sent = operator.get(row.operatorReference);
    if (row.failureCode === null || reasonsFor(kind, sent, refusals).includes(row.failureCode)) return [];
    const text = `its reason is ${row.failureCode}, and for the operator it is ${describe(sent)}`;
    return [{ rule: 'reason_contradicts_operator', id: row.id, text }];
  };
  // The operator refuses a refund whose money went back before, and keeps no record of that.
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

/** The reasons that agree with what the operator knows; `refusals` where it may have refused without a record. */
function reasonsFor(kind: Kind, sent: OperatorPayment | undefined, refusals: readonly string[]): readonly string[] {
  const { collection, moneyOut } = REASONS[sent?.reason?.code ?? ''] ?? {};
  const reason = (kind === 'collection' ? collection : moneyOut) ?? 'a reason that the checker does not know';
  switch (truthOf(sent)) {
    case 'unknown':
      // A request of it that the operator did not accept was sent all the same.
      return [...OUTAGES.filter((outage) => outage !== 'service_unavailable' || sent === undefined), ...refusals];
    case 'pending':
      return ['unknown'];
    case 'refused':
      return [reason];
    case 'expired':
      // It expired as undecided, and the operator said later that it had expired there.
      return kind === 'collection' ? [reason, 'unknown'] : [reason];
    case 'paid':
    case 'given_back':
      return [];
  }
}

function describe(sent: OperatorPayment | undefined): string {
  return `${truthOf(sent)}${sent?.reason ? ` (${sent.reason.code})` : ''}`;
}
