// The outcome table: the last three digits of the phone decide how the sandbox operator treats a payment.
import type { SandboxTimes } from './sandbox-config.ts';

type Reason = { readonly code: string; readonly message: string };

export type Outcome = { readonly status: 'SUCCESSFUL' } | { readonly status: 'FAILED'; readonly reason: Reason };

/** `token_refused`: the bearer token is refused and invalid from then on, as after another client requested a token. */
export type RequestRefusal = 'unavailable' | 'throttled' | 'token_refused' | 'account_refused';

export type Behaviour = {
  /** A text for people, shown by the inspection pages. */
  readonly summary: string;
  readonly outcome: Outcome;
  /** The configured time after which the payment is decided; with `never` only a person decides the payment. */
  readonly decidedAfter:
    keyof Pick<SandboxTimes, 'decisionMs' | 'promptExpiryMs' | 'undecidedMs'> | 'at_once' | 'never';
  readonly callbacks: number;
  /** The outcome that the callback reports, if it is not the true outcome. */
  readonly forgedOutcome?: Outcome;
  /** The payment is decided and called back before the response to its request. */
  readonly callsBackBeforeResponse?: boolean;
  /** How many requests with one reference are refused before one is accepted. */
  readonly requestsRefused?: number;
  /** The kind of these refusals; `unavailable` if absent. */
  readonly refusedWith?: RequestRefusal;
  /** How many queries the operator answers as if it did not know the accepted payment. */
  readonly queriesUnknown?: number;
  /** The request is accepted, and its connection is cut instead of a response. */
  readonly cutsConnection?: boolean;
  /** An operator that reports queue timeouts first reports that the payment waits in its queue for too long. */
  readonly timesOutInQueue?: boolean;
  /** After the payment the operator returns the money by itself and reports the return in one more callback. */
  readonly isGivenBack?: boolean;
  /** The operator pays one whole unit more than requested. */
  readonly paysOneMore?: boolean;
  /** The payment has the receipt of the last paid payment of its kind. */
  readonly reusesReceipt?: boolean;
  /** The first answers to the payment's requests and queries are unreadable, each in another way. */
  readonly hasUnreadableAnswers?: boolean;
};

/** When a payment that was accepted at `fromMs` is decided; null if only a person decides it. */
export function decidedAtMs({ decidedAfter }: Behaviour, times: SandboxTimes, fromMs: number): number | null {
  if (decidedAfter === 'never') return null;
  return fromMs + (decidedAfter === 'at_once' ? 0 : times[decidedAfter]);
}

/** Money in, money out, or a collection's money back to its payer. */
export type PaymentKind = 'collection' | 'payout' | 'refund';

export const PAID: Outcome = { status: 'SUCCESSFUL' };
export const CANCELLED = failure('APPROVAL_REJECTED', 'The payer rejected the request.');
export const WRONG_PIN = failure('WRONG_PIN', 'The payer entered a wrong PIN.');
export const FLOAT_TOO_LOW = failure('NOT_ENOUGH_FUNDS', 'The float does not cover the amount.');
/** The general failure of a transfer, with MTN's own general code. */
export const NOT_PAID_OUT = failure('INTERNAL_PROCESSING_ERROR', 'The transfer could not be completed.');
/** MTN documents no code for money that was returned after the payment; this code is ours. */
export const GIVEN_BACK = failure('TRANSACTION_REVERSED', 'The transaction was reversed by the provider.');

const ORDINARY: Behaviour = { summary: 'paid', outcome: PAID, decidedAfter: 'decisionMs', callbacks: 1 };

const CALLED_BACK_THREE_TIMES: Behaviour = { ...ORDINARY, summary: 'paid, callback sent three times', callbacks: 3 };
const UNDECIDED_FOR_EVER: Behaviour = { ...ORDINARY, summary: 'undecided for ever', decidedAfter: 'never' };
const UNAVAILABLE_FIRST: Behaviour = { ...ORDINARY, summary: '503 three times, then paid', requestsRefused: 3 };
const THROTTLED_FIRST: Behaviour = {
  ...ORDINARY,
  summary: 'throttled once, then paid',
  requestsRefused: 1,
  refusedWith: 'throttled',
};
const TOKEN_REFUSED_FIRST: Behaviour = {
  ...ORDINARY,
  summary: 'access token refused once, then paid',
  requestsRefused: 1,
  refusedWith: 'token_refused',
};
const UNKNOWN_FIRST: Behaviour = {
  ...ORDINARY,
  summary: 'not known to the first two queries, paid',
  queriesUnknown: 2,
};
/** One more refusal than clients receive before they stop calling for a time. */
const ACCOUNT_REFUSED_FIRST: Behaviour = {
  ...ORDINARY,
  summary: 'our account refused six times, then paid',
  requestsRefused: 6,
  refusedWith: 'account_refused',
};
const ONE_MORE: Behaviour = { ...ORDINARY, summary: 'paid, but one unit more than requested', paysOneMore: true };
const RECEIPT_REUSED: Behaviour = {
  ...ORDINARY,
  summary: 'paid, with the receipt of the payment before',
  reusesReceipt: true,
};
const UNREADABLE_FIRST: Behaviour = {
  ...ORDINARY,
  summary: 'four unreadable answers, then paid',
  hasUnreadableAnswers: true,
};
const CALLED_BACK_BEFORE_RESPONSE: Behaviour = {
  ...ORDINARY,
  summary: 'paid, callback arrives before the answer to the request',
  decidedAfter: 'at_once',
  callsBackBeforeResponse: true,
};
const CUT_OFF: Behaviour = {
  ...ORDINARY,
  summary: 'taken, connection drops before the answer, paid',
  cutsConnection: true,
};

const CUT_OFF_WITHOUT_CALLBACK: Behaviour = {
  ...CUT_OFF,
  summary: 'taken, connection drops, callback dropped, paid',
  callbacks: 0,
};

/** Collections, by the last three digits of the payer's phone. With any other digits a collection is paid. */
export const COLLECTION_BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ['001', fails('payer cancels', CANCELLED)],
  ['002', fails('wrong PIN', WRONG_PIN)],
  [
    '003',
    fails('prompt times out at the operator', failure('EXPIRED', 'The payer did not answer in time.'), {
      decidedAfter: 'promptExpiryMs',
    }),
  ],
  ['004', { ...ORDINARY, summary: 'callback dropped, paid', callbacks: 0 }],
  ['005', fails('callback dropped, cancelled', CANCELLED, { callbacks: 0 })],
  ['006', fails('insufficient funds', failure('NOT_ENOUGH_FUNDS', 'The payer does not have enough funds.'))],
  ['007', fails('payer not found', failure('PAYER_NOT_FOUND', 'The payer has no account.'))],
  ['008', CALLED_BACK_THREE_TIMES],
  ['009', { ...ORDINARY, summary: 'undecided past the prompt window, then paid', decidedAfter: 'undecidedMs' }],
  ['010', UNDECIDED_FOR_EVER],
  ['011', UNAVAILABLE_FIRST],
  ['012', CALLED_BACK_BEFORE_RESPONSE],
  ['013', fails('forged callback says paid, the operator says cancelled', CANCELLED, { forgedOutcome: PAID })],
  ['014', CUT_OFF],
  ['015', { ...ORDINARY, summary: 'paid, then reversed by the provider after a few seconds', isGivenBack: true }],
  ['016', THROTTLED_FIRST],
  ['017', TOKEN_REFUSED_FIRST],
  ['018', CUT_OFF_WITHOUT_CALLBACK],
  ['019', UNKNOWN_FIRST],
  ['020', ONE_MORE],
  ['021', RECEIPT_REUSED],
  ['022', ACCOUNT_REFUSED_FIRST],
  ['023', UNREADABLE_FIRST],
  ['099', { ...ORDINARY, summary: 'waits for a person at the handset page', decidedAfter: 'never' }],
]);

/** Payouts, by the last three digits of the payee's phone. */
export const PAYOUT_BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ['001', fails('payee not found', failure('PAYEE_NOT_FOUND', 'The payee has no account.'))],
  // MTN has the same code for the limits of payer and payee.
  ['002', fails('payee limit reached', failure('PAYER_LIMIT_REACHED', 'A limit of the wallet has been reached.'))],
  ['003', fails('operator float too low', FLOAT_TOO_LOW)],
  ['004', { ...ORDINARY, summary: 'callback dropped, paid', callbacks: 0 }],
  ['005', fails('callback dropped, failed', NOT_PAID_OUT, { callbacks: 0 })],
  ['006', fails('payee not allowed', failure('PAYEE_NOT_ALLOWED_TO_RECEIVE', 'The payee is not allowed to receive.'))],
  ['008', CALLED_BACK_THREE_TIMES],
  ['009', { ...ORDINARY, summary: 'undecided, then paid', decidedAfter: 'undecidedMs', timesOutInQueue: true }],
  ['010', { ...UNDECIDED_FOR_EVER, timesOutInQueue: true }],
  ['011', UNAVAILABLE_FIRST],
  ['012', CALLED_BACK_BEFORE_RESPONSE],
  ['013', fails('forged callback says paid, the operator says failed', NOT_PAID_OUT, { forgedOutcome: PAID })],
  ['014', CUT_OFF],
  ['015', { ...ORDINARY, summary: 'paid, then returned by the provider after a few seconds', isGivenBack: true }],
  ['016', THROTTLED_FIRST],
  ['017', TOKEN_REFUSED_FIRST],
  ['018', CUT_OFF_WITHOUT_CALLBACK],
  ['019', UNKNOWN_FIRST],
  ['020', ONE_MORE],
  ['021', RECEIPT_REUSED],
  ['022', ACCOUNT_REFUSED_FIRST],
  ['023', UNREADABLE_FIRST],
  ['099', { ...ORDINARY, summary: 'waits for a person at the operator page', decidedAfter: 'never' }],
]);

/** A refund follows the payouts' table by the payer's phone, except for these rows, in which a refund is paid. */
const ORDINARY_FOR_REFUNDS: ReadonlySet<string> = new Set(['015', '099']);

const ROW_DIGITS = 3;

/** The phone's row (`other` for none), and its behaviour for a payment of this kind. */
export function behaviourOf({ kind, phone }: { kind: PaymentKind; phone: string }): {
  row: string;
  behaviour: Behaviour;
} {
  const row = phone.slice(-ROW_DIGITS);
  const behaviours = kind === 'collection' ? COLLECTION_BEHAVIOURS : PAYOUT_BEHAVIOURS;
  const isOrdinary = kind === 'refund' && ORDINARY_FOR_REFUNDS.has(row);
  const behaviour = isOrdinary ? undefined : behaviours.get(row);
  return behaviour === undefined ? { row: 'other', behaviour: ORDINARY } : { row, behaviour };
}

function failure(code: string, message: string): Outcome {
  return { status: 'FAILED', reason: { code, message } };
}

function fails(summary: string, outcome: Outcome, changes: Partial<Behaviour> = {}): Behaviour {
  return { ...ORDINARY, summary, outcome, ...changes };
}
