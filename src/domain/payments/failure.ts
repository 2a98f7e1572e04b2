// Why a payment failed or a collection expired: one closed list to which every operator's codes are mapped.

const MESSAGES = {
  payer_cancelled: 'The payer cancelled the prompt. Ask them whether they want to pay, then create a new collection.',
  wrong_pin: 'The payer entered a wrong PIN. Create a new collection to let them try again.',
  insufficient_funds: 'The payer does not have enough money in their wallet for this amount and its fee.',
  prompt_expired: 'The payer did not answer the prompt in time. Create a new collection when they are ready.',
  payer_unreachable: 'The phone could not be reached: it is off or out of coverage. Try again later.',
  payer_not_found: 'This number has no mobile-money account. Check the number with the payer.',
  payer_limit_reached: 'The payer has reached a limit of their wallet. Try a smaller amount or another day.',
  payer_busy: 'The payer has another prompt open. Wait a minute, then create a new collection.',
  amount_not_allowed: 'The operator does not allow this amount for this payer.',
  operator_unavailable: 'The operator did not accept the prompt in time, and nobody was asked to pay. Try again later.',
  service_unavailable:
    'We could not send the prompt to the operator in time, and nobody was asked to pay. Create a new collection.',
  already_returned: 'The operator had already returned the money to the payer, so no refund was sent.',
  operator_rejected: 'The operator refused the request. Contact support with the request id if it keeps happening.',
  unknown: 'The operator never reported an outcome. If the operator reports one later, we notify you.',
} as const;

// For payouts and refunds, where the message for a collection would be wrong.
const PAYOUT_MESSAGES: Readonly<Partial<Record<keyof typeof MESSAGES, string>>> = {
  payer_unreachable: 'The payee’s phone could not be reached. Try again later.',
  payer_not_found: 'This number has no mobile-money account. Check the number with the payee.',
  payer_limit_reached: 'The payee has reached a limit of their wallet. Try a smaller amount or another day.',
  payer_busy: 'The operator is busy with another payment to this payee. Wait a minute, then create a new payout.',
  insufficient_funds: 'The operator’s float is too low for this amount. Try again later.',
  amount_not_allowed: 'The operator does not allow this amount for this payee.',
  operator_unavailable: 'The operator did not accept the payout in time, and nothing was sent. Create a new one later.',
  service_unavailable: 'We could not send this to the operator in time, and nothing was sent. Create a new one.',
};

/** The cause of a payout's or refund's failure: the operator refused it, nobody tried to send it, or the operator never accepted it. */
export type FailureCause = 'declined' | 'never_sent' | 'never_accepted';

export type FailureCode = keyof typeof MESSAGES;

// The failure codes of ends that no operator stated. An operator's refusal contains its own failure code.
const CODE_OF_TRANSITION: Readonly<Partial<Record<string, FailureCode>>> = {
  never_sent: 'service_unavailable',
  never_accepted: 'operator_unavailable',
  undecided: 'unknown',
};

/** Why a payment of any kind ends by this transition; null unless the transition makes it fail or expire. */
export function failureOf(input: {
  readonly kind: string;
  readonly failureCode?: FailureCode;
  readonly isOperatorAway?: boolean;
}): FailureCode | null {
  if (input.isOperatorAway === true) return 'operator_unavailable';
  return CODE_OF_TRANSITION[input.kind] ?? input.failureCode ?? null;
}
export type Failure = { readonly code: FailureCode; readonly message: string };

export const FAILURE_CODES = Object.keys(MESSAGES) as FailureCode[];

/** The failure of a collection, with a message that the merchant's staff can act on. */
export function failure(code: FailureCode): Failure {
  return { code, message: MESSAGES[code] };
}

export function payoutFailure(code: FailureCode): Failure {
  return { code, message: PAYOUT_MESSAGES[code] ?? MESSAGES[code] };
}
