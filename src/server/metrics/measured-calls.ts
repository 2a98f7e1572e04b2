// Counts and times the calls of operators by result, and the attempts of the webhook sender.
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { NameOutcome, Operator, SendOutcome, StatusOutcome } from '../../operators/port.ts';
import type { Attempt } from '../../domain/webhooks/delivery.ts';
import type { WebhookSender } from '../../webhooks/sender.ts';

export const OPERATOR_CALLS = [
  'raise_prompt',
  'get_collection_status',
  'send_payout',
  'get_payout_status',
  'refund_collection',
  'get_refund_status',
  'get_payee_name',
] as const;

type Result = SendOutcome['kind'] | StatusOutcome['kind'] | NameOutcome['kind'];
const IS_RESULT: Readonly<Record<Result, true>> = {
  accepted: true,
  refused: true,
  pending: true,
  succeeded: true,
  failed: true,
  returned: true,
  paid_unreadable: true,
  unreadable: true,
  not_found: true,
  asked: true,
  named: true,
  unnamed: true,
  unknown: true,
};
/** `unknown`: no usable answer, for example because the operator is unavailable. */
export const OPERATOR_RESULTS = Object.keys(IS_RESULT) as Result[];

export type MeasuredCall = {
  readonly operator: OperatorId;
  readonly call: (typeof OPERATOR_CALLS)[number];
  readonly result: Result;
  readonly seconds: number;
};

export function measuredOperator(operator: Operator, onCalled: (call: MeasuredCall) => void): Operator {
  async function measured<Outcome extends { readonly kind: Result }>(
    call: MeasuredCall['call'],
    make: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const beganMs = performance.now();
    const outcome = await make();
    onCalled({ operator: operator.id, call, result: outcome.kind, seconds: (performance.now() - beganMs) / 1000 });
    return outcome;
  }
  const { getPayeeName, readMessage } = operator;
  return {
    id: operator.id,
    raisePrompt: (request) => measured('raise_prompt', () => operator.raisePrompt(request)),
    getCollectionStatus: (payment, mayCallAgain) =>
      measured('get_collection_status', () => operator.getCollectionStatus(payment, mayCallAgain)),
    sendPayout: (request) => measured('send_payout', () => operator.sendPayout(request)),
    getPayoutStatus: (payment) => measured('get_payout_status', () => operator.getPayoutStatus(payment)),
    refundCollection: (request) => measured('refund_collection', () => operator.refundCollection(request)),
    getRefundStatus: (payment) => measured('get_refund_status', () => operator.getRefundStatus(payment)),
    getPayeeName: getPayeeName && ((phone) => measured('get_payee_name', () => getPayeeName(phone))),
    parseCallback: (body) => operator.parseCallback(body),
    readMessage,
    close: () => operator.close(),
  };
}

/** A sender whose attempts are counted and timed. */
export function measuredSender(sender: WebhookSender, onAttempted: (attempt: Attempt) => void): WebhookSender {
  return {
    async send(webhook, attemptNumber) {
      const attempt = await sender.send(webhook, attemptNumber);
      onAttempted(attempt);
      return attempt;
    },
    close: () => sender.close(),
  };
}
