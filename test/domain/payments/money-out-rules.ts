// What the progress of payouts and of refunds has in common: their limits, what the operator may answer, and rules.
import type { FailureCode } from '../../../src/domain/payments/failure.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import type { ProgressRule } from './transition-cases.ts';

export const DEADLINE_MS = 1_000_000;
export const GRACE_MS = 1000;

export const statusesWhenDeclined = (failureCode: FailureCode): readonly OperatorStatus[] => [
  { kind: 'paid', operatorReceipt: '42' },
  { kind: 'returned', operatorReceipt: '42' },
  { kind: 'declined', failureCode },
  { kind: 'paid_otherwise', operatorReceipt: '42', reported: { amount: '1', currency: 'UGX' } },
  { kind: 'pending' },
  { kind: 'unreadable' },
  { kind: 'not_found' },
  { kind: 'unknown' },
];

type SentCase = {
  readonly state: string;
  readonly status: OperatorStatus;
  readonly nowMs: number;
  readonly hasEvidence: boolean;
};

type Recorded =
  | { kind: 'declined'; failureCode: FailureCode }
  | { kind: 'never_accepted'; queriedAtMs: number }
  | { kind: 'outcome_unknown' }
  | null;

export const isNeverAccepted = ({ status, nowMs, hasEvidence }: SentCase) =>
  hasEvidence && status.kind === 'not_found' && nowMs >= DEADLINE_MS + GRACE_MS;

/** For what was sent and not paid, read from the top: the first rule that fits applies. */
export const rulesOfUnpaid = (failureCode: FailureCode): readonly ProgressRule<SentCase, Recorded>[] => [
  {
    title: 'records declined when the operator declines',
    fits: ({ status }) => status.kind === 'declined',
    records: () => ({ kind: 'declined', failureCode }),
  },
  {
    title: 'records never_accepted on evidence that the operator does not know it, when no send can be on its way',
    fits: isNeverAccepted,
    records: ({ nowMs }) => ({ kind: 'never_accepted', queriedAtMs: nowMs }),
  },
  {
    title: 'records an unknown outcome when the send deadline passes without one, or other money was paid',
    fits: ({ state, status, nowMs }) =>
      state === 'released' && (nowMs >= DEADLINE_MS || status.kind === 'paid_otherwise'),
    records: () => ({ kind: 'outcome_unknown' }),
  },
  { title: 'records nothing while the outcome is awaited', fits: () => true, records: () => null },
];
