// The table of endings: what the sandbox operator does with a payment, by the last three digits of the phone.
import type { SandboxTimes } from './sandbox-config.ts';

type Reason = { readonly code: string; readonly message: string };

export type Ending = { readonly status: 'SUCCESSFUL' } | { readonly status: 'FAILED'; readonly reason: Reason };

export type Behaviour = {
  /** For people: shown by the inspection pages and kept with each transaction. */
  readonly summary: string;
  readonly ending: Ending;
  /** Which of the configured times passes before the ending; `never` leaves it undecided until a person decides it. */
  readonly endsAfter: keyof Pick<SandboxTimes, 'decisionMs' | 'promptExpiryMs' | 'undecidedMs'> | 'at_once' | 'never';
  readonly callbacks: number;
  /** What the callback claims where that is not the truth. */
  readonly forgedEnding?: Ending;
  /** The ending and its callback come before the request is answered. */
  readonly callsBackBeforeAnswer?: boolean;
  /** How many requests with one reference are answered 503 before one is taken. */
  readonly requestsRefused?: number;
  /** The request is taken and its connection is cut instead of an answer. */
  readonly cutsConnection?: boolean;
  /** Once it was paid, the operator gives the money back by itself and says so in one more callback. */
  readonly isGivenBack?: boolean;
};

/** What is asked of the operator: money in, money out, or a collection's money back to its payer. */
export type PaymentKind = 'collection' | 'payout' | 'refund';

export const PAID: Ending = { status: 'SUCCESSFUL' };
export const CANCELLED = failed('APPROVAL_REJECTED', 'The payer rejected the request.');
export const WRONG_PIN = failed('WRONG_PIN', 'The payer entered a wrong PIN.');
export const FLOAT_TOO_LOW = failed('NOT_ENOUGH_FUNDS', 'The float does not cover the amount.');
/** The general failure of a transfer: MTN's own general code. */
export const NOT_PAID_OUT = failed('INTERNAL_PROCESSING_ERROR', 'The transfer could not be completed.');
/** MTN documents no such code: ours for money that was given back after it was paid. */
export const GIVEN_BACK = failed('TRANSACTION_REVERSED', 'The transaction was reversed by the provider.');

const ORDINARY: Behaviour = { summary: 'paid', ending: PAID, endsAfter: 'decisionMs', callbacks: 1 };

const CALLED_BACK_THREE_TIMES: Behaviour = { ...ORDINARY, summary: 'paid, callback sent three times', callbacks: 3 };
const UNDECIDED_FOR_EVER: Behaviour = { ...ORDINARY, summary: 'undecided for ever', endsAfter: 'never' };
const UNAVAILABLE_FIRST: Behaviour = { ...ORDINARY, summary: '503 three times, then paid', requestsRefused: 3 };
const CALLED_BACK_BEFORE_ANSWER: Behaviour = {
  ...ORDINARY,
  summary: 'paid, callback arrives before the answer to the request',
  endsAfter: 'at_once',
  callsBackBeforeAnswer: true,
};
const CUT_OFF: Behaviour = {
  ...ORDINARY,
  summary: 'taken, connection drops before the answer, paid',
  cutsConnection: true,
};

/** Collections: the key is what the payer's phone ends in. A phone that ends in anything else is simply paid. */
export const COLLECTION_BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ['001', { ...ORDINARY, summary: 'payer cancels', ending: CANCELLED }],
  ['002', { ...ORDINARY, summary: 'wrong PIN', ending: WRONG_PIN }],
  [
    '003',
    {
      ...ORDINARY,
      summary: 'prompt times out at the operator',
      ending: failed('EXPIRED', 'The payer did not answer in time.'),
      endsAfter: 'promptExpiryMs',
    },
  ],
  ['004', { ...ORDINARY, summary: 'callback dropped, paid', callbacks: 0 }],
  ['005', { ...ORDINARY, summary: 'callback dropped, cancelled', ending: CANCELLED, callbacks: 0 }],
  [
    '006',
    {
      ...ORDINARY,
      summary: 'insufficient funds',
      ending: failed('NOT_ENOUGH_FUNDS', 'The payer does not have enough funds.'),
    },
  ],
  ['007', { ...ORDINARY, summary: 'payer not found', ending: failed('PAYER_NOT_FOUND', 'The payer has no account.') }],
  ['008', CALLED_BACK_THREE_TIMES],
  ['009', { ...ORDINARY, summary: 'undecided past the prompt window, then paid', endsAfter: 'undecidedMs' }],
  ['010', UNDECIDED_FOR_EVER],
  ['011', UNAVAILABLE_FIRST],
  ['012', CALLED_BACK_BEFORE_ANSWER],
  [
    '013',
    {
      ...ORDINARY,
      summary: 'forged callback says paid, the operator says cancelled',
      ending: CANCELLED,
      forgedEnding: PAID,
    },
  ],
  ['014', CUT_OFF],
  ['015', { ...ORDINARY, summary: 'paid, then reversed by the provider after a few seconds', isGivenBack: true }],
  ['099', { ...ORDINARY, summary: 'waits for a person at the handset page', endsAfter: 'never' }],
]);

/** Payouts: the key is what the payee's phone ends in. */
export const PAYOUT_BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ['001', { ...ORDINARY, summary: 'payee not found', ending: failed('PAYEE_NOT_FOUND', 'The payee has no account.') }],
  [
    '002',
    {
      ...ORDINARY,
      summary: 'payee limit reached',
      // MTN's one code for a limit, whoever's it is.
      ending: failed('PAYER_LIMIT_REACHED', 'A limit of the wallet has been reached.'),
    },
  ],
  ['003', { ...ORDINARY, summary: 'operator float too low', ending: FLOAT_TOO_LOW }],
  ['004', { ...ORDINARY, summary: 'callback dropped, paid', callbacks: 0 }],
  ['005', { ...ORDINARY, summary: 'callback dropped, failed', ending: NOT_PAID_OUT, callbacks: 0 }],
  [
    '006',
    {
      ...ORDINARY,
      summary: 'payee not allowed',
      ending: failed('PAYEE_NOT_ALLOWED_TO_RECEIVE', 'The payee is not allowed to receive.'),
    },
  ],
  ['008', CALLED_BACK_THREE_TIMES],
  ['009', { ...ORDINARY, summary: 'undecided, then paid', endsAfter: 'undecidedMs' }],
  ['010', UNDECIDED_FOR_EVER],
  ['011', UNAVAILABLE_FIRST],
  ['012', CALLED_BACK_BEFORE_ANSWER],
  [
    '013',
    {
      ...ORDINARY,
      summary: 'forged callback says paid, the operator says failed',
      ending: NOT_PAID_OUT,
      forgedEnding: PAID,
    },
  ],
  ['014', CUT_OFF],
  ['015', { ...ORDINARY, summary: 'paid, then returned by the provider after a few seconds', isGivenBack: true }],
  ['099', { ...ORDINARY, summary: 'waits for a person at the operator page', endsAfter: 'never' }],
]);

/** A refund is money out to the collection's payer; these rows of the payouts are about something that it cannot be. */
const ORDINARY_FOR_REFUNDS: ReadonlySet<string> = new Set(['015', '099']);

const DIGITS_THAT_DECIDE = 3;

/** Which row a phone falls under (`other` for none), and what that row does with a payment of this kind. */
export function behaviourOf({ kind, phone }: { kind: PaymentKind; phone: string }): {
  row: string;
  behaviour: Behaviour;
} {
  const row = phone.slice(-DIGITS_THAT_DECIDE);
  const behaviours = kind === 'collection' ? COLLECTION_BEHAVIOURS : PAYOUT_BEHAVIOURS;
  const isOrdinary = kind === 'refund' && ORDINARY_FOR_REFUNDS.has(row);
  const behaviour = isOrdinary ? undefined : behaviours.get(row);
  return behaviour === undefined ? { row: 'other', behaviour: ORDINARY } : { row, behaviour };
}

function failed(code: string, message: string): Ending {
  return { status: 'FAILED', reason: { code, message } };
}
