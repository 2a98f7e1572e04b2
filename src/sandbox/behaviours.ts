// The table of endings: what the sandbox operator does with a payment, by the last three digits of the phone.
import type { SandboxTimes } from './sandbox-config.ts';

type Reason = { readonly code: string; readonly message: string };

export type Ending = { readonly status: 'SUCCESSFUL' } | { readonly status: 'FAILED'; readonly reason: Reason };

export type Behaviour = {
  /** For people: shown by the inspection pages and kept with each transaction. */
  readonly summary: string;
  readonly ending: Ending;
  /** Which of the configured times passes before the ending; `never` leaves it undecided for ever. */
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
};

const PAID: Ending = { status: 'SUCCESSFUL' };
const CANCELLED = failed('APPROVAL_REJECTED', 'The payer rejected the request.');

const ORDINARY: Behaviour = { summary: 'paid', ending: PAID, endsAfter: 'decisionMs', callbacks: 1 };

/** Collections: the key is what the payer's phone ends in. A phone that ends in anything else is simply paid. */
export const COLLECTION_BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ['001', { ...ORDINARY, summary: 'payer cancels', ending: CANCELLED }],
  ['002', { ...ORDINARY, summary: 'wrong PIN', ending: failed('WRONG_PIN', 'The payer entered a wrong PIN.') }],
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
  ['008', { ...ORDINARY, summary: 'paid, callback sent three times', callbacks: 3 }],
  ['009', { ...ORDINARY, summary: 'undecided past the prompt window, then paid', endsAfter: 'undecidedMs' }],
  ['010', { ...ORDINARY, summary: 'undecided for ever', endsAfter: 'never', callbacks: 0 }],
  ['011', { ...ORDINARY, summary: '503 three times, then paid', requestsRefused: 3 }],
  [
    '012',
    {
      ...ORDINARY,
      summary: 'paid, callback arrives before the answer to the request',
      endsAfter: 'at_once',
      callsBackBeforeAnswer: true,
    },
  ],
  [
    '013',
    {
      ...ORDINARY,
      summary: 'forged callback says paid, the operator says cancelled',
      ending: CANCELLED,
      forgedEnding: PAID,
    },
  ],
  ['014', { ...ORDINARY, summary: 'taken, connection drops before the answer, paid', cutsConnection: true }],
]);

const DIGITS_THAT_DECIDE = 3;

/** Which row a phone falls under (`other` for none), and what that row does. */
export function collectionBehaviour(phone: string): { row: string; behaviour: Behaviour } {
  const row = phone.slice(-DIGITS_THAT_DECIDE);
  const behaviour = COLLECTION_BEHAVIOURS.get(row);
  return behaviour === undefined ? { row: 'other', behaviour: ORDINARY } : { row, behaviour };
}

function failed(code: string, message: string): Ending {
  return { status: 'FAILED', reason: { code, message } };
}
