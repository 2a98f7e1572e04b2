// How a transition input changes a payment: every state of each kind with every input.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import { COLLECTION_STATES, COLLECTION_TRANSITIONS, type Collection } from '../../../src/domain/payments/collection.ts';
import { FAILURE_CODES } from '../../../src/domain/payments/failure.ts';
import type { Payment, PaymentKind } from '../../../src/domain/payments/payment.ts';
import { changePayment, type ChangeInput } from '../../../src/domain/payments/payment-change.ts';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS, type Payout } from '../../../src/domain/payments/payout.ts';
import { REVERSAL_STATES, REVERSAL_TRANSITIONS, type Reversal } from '../../../src/domain/payments/reversal.ts';
import { QUERY_PRIORITY } from '../../../src/domain/work.ts';
import { AT, collectionWith } from './collections.ts';
import { payoutWith } from './payouts.ts';
import { reversalWith } from './reversals.ts';

const CLOCKS = {
  promptWindowMs: 1000,
  staleAfterMs: 100,
  lateCheckAgesMs: [10_000, 20_000],
  returnCheckAgesMs: [30_000],
  pollScheduleMs: [400],
  reconcileScheduleMs: [700],
  minimumQueryGapMs: 10,
  reconcileForMs: 86_400_000,
  notFoundGraceMs: 500,
  notFoundSpanMs: 3_600_000,
  payoutOverdueMs: 200,
};
const NOW = new Date(AT.getTime() + 60_000);
const inMs = (ms: number) => new Date(NOW.getTime() + ms);
const SEND_DEADLINE = inMs(300_000);
const PERSON = newId('usr');

/** Each input, and what it writes besides the state. */
type Inputs<Kind extends PaymentKind> = readonly (readonly [ChangeInput<Kind>, Partial<Payment<Kind>>])[];

/** What people decide on payouts and refunds, and how both fail or stay without an outcome. */
const OF_MONEY_OUT = [
  [
    { kind: 'released', sendDeadlineAt: SEND_DEADLINE, releaseAttestation: 'attested' },
    { sendDeadlineAt: SEND_DEADLINE, releaseAttestation: 'attested' },
  ],
  [
    { kind: 'rejected', by: PERSON, reason: 'wrong person' },
    { decidedBy: PERSON, rejectionReason: 'wrong person' },
  ],
  [{ kind: 'cancelled', by: PERSON }, { decidedBy: PERSON }],
  [{ kind: 'approval_expired' }, {}],
  [{ kind: 'outcome_unknown' }, {}],
  [{ kind: 'declined', failureCode: 'payer_not_found' }, { failureCode: 'payer_not_found' }],
  [{ kind: 'never_sent' }, { failureCode: 'service_unavailable' }],
  [{ kind: 'never_accepted', queriedAtMs: 1 }, { failureCode: 'operator_unavailable' }],
] as const;

const COLLECTION_INPUTS: Inputs<'collection'> = [
  [{ kind: 'prompt_accepted' }, { sendBegunAt: AT, promptExpiresAt: inMs(1000) }],
  [{ kind: 'outcome_unknown' }, {}],
  [{ kind: 'paid', operatorReceipt: '42' }, { operatorReceipt: '42' }],
  [{ kind: 'declined', failureCode: 'wrong_pin' }, { failureCode: 'wrong_pin' }],
  [{ kind: 'expired', failureCode: 'prompt_expired' }, { failureCode: 'prompt_expired' }],
  [{ kind: 'never_sent' }, { failureCode: 'service_unavailable' }],
  [{ kind: 'never_accepted', queriedAtMs: 1 }, { failureCode: 'operator_unavailable' }],
  [{ kind: 'undecided', queriedAtMs: 1 }, { failureCode: 'unknown' }],
  [{ kind: 'returned' }, { amountReversedMinor: 5000n }],
];
const PAYOUT_INPUTS: Inputs<'payout'> = [
  ...OF_MONEY_OUT,
  [{ kind: 'paid', operatorReceipt: '42' }, { operatorReceipt: '42' }],
  [{ kind: 'returned' }, { amountReversedMinor: 5000n }],
];
const REVERSAL_INPUTS: Inputs<'reversal'> = [...OF_MONEY_OUT, [{ kind: 'refunded' }, { isCollectionReturned: true }]];

/** When the workflow is checked after the change. */
function checkAfterMs(to: string): number | null {
  if (to === 'prompted') return CLOCKS.promptWindowMs + CLOCKS.staleAfterMs;
  return to === 'released' || to === 'reconciling' ? CLOCKS.staleAfterMs : null;
}

/** When the operator is asked after the change. What is released was not sent yet. */
function queryAfter(kind: PaymentKind, to: string, input: ChangeInput) {
  if (to === 'prompted') return { ms: 400, priority: QUERY_PRIORITY.scheduled };
  if (to === 'reconciling') return { ms: 700, priority: QUERY_PRIORITY.scheduled };
  // The operator may return what it paid, and may still turn out to have paid what it did not know.
  if (to === 'succeeded') return { ms: 30_000, priority: QUERY_PRIORITY.final };
  const mayBePaid = kind === 'collection' ? to === 'expired' : input.kind === 'never_accepted';
  return mayBePaid ? { ms: 10_000, priority: QUERY_PRIORITY.final } : null;
}

type Table = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>;

/** Tests each state with each input. `versioned`: what the change writes of the former state, where the kind has that. */
function itFollowsTheTable<Kind extends PaymentKind>(
  transitions: Table,
  inputs: Inputs<Kind>,
  beforeIn: (state: string) => Payment<Kind>,
  versioned: (before: Payment<Kind>) => object,
): void {
  for (const [state, ofState] of Object.entries(transitions)) {
    for (const [input, written] of inputs) {
      const to = ofState[input.kind];
      it(`${input.kind} ${to === undefined ? 'changes nothing in' : `leads to ${to} from`} ${state}`, () => {
        const before = beforeIn(state);
        const change = changePayment(before, input as ChangeInput<Payment<Kind>['kind']>, NOW, CLOCKS);
        if (to === undefined) {
          assert.equal(change, null);
          return;
        }
        const checkMs = checkAfterMs(to);
        const query = queryAfter(before.kind, to, input);
        assert.deepEqual(change, {
          before,
          after: { ...before, failureCode: null, ...versioned(before), state: to, updatedAt: NOW, ...written },
          failedBy: to === 'failed' ? input.kind : null,
          requiresNotAccepted: input.kind === 'never_accepted',
          requiresNotSent: input.kind === 'never_sent' || input.kind === 'cancelled',
          checkDueAt: checkMs === null ? null : inMs(checkMs),
          queryDue: query && { dueAt: inMs(query.ms), priority: query.priority },
        });
      });
    }
  }

  it('is tested with every kind of transition', () => {
    const known = new Set(Object.values(transitions).flatMap((ofState) => Object.keys(ofState)));
    assert.deepEqual(inputs.map(([{ kind }]) => kind).sort(), [...known].sort());
  });
}

const nextVersion = ({ state, version }: Collection | Payout) => ({ previousState: state, version: version + 1 });

describe('a transition input of a collection', () => {
  itFollowsTheTable<'collection'>(
    COLLECTION_TRANSITIONS,
    COLLECTION_INPUTS,
    (state) =>
      collectionWith({
        state: COLLECTION_STATES.find((each) => each === state)!,
        version: 3,
        failureCode: state === 'expired' ? 'unknown' : null,
      }),
    nextVersion,
  );

  it('changes nothing when an expiry that the operator explained turns out to be a decline', () => {
    for (const failureCode of FAILURE_CODES.filter((code) => code !== 'unknown')) {
      const before = collectionWith({ state: 'expired', failureCode });
      const change = changePayment(before, { kind: 'declined', failureCode: 'wrong_pin' }, NOW, CLOCKS);
      assert.equal(change, null, failureCode);
    }
  });

  it('leaves the time at which the prompt expires', () => {
    const before = collectionWith({ state: 'prompted', promptExpiresAt: AT });
    const change = changePayment(before, { kind: 'outcome_unknown' }, NOW, CLOCKS);
    assert.deepEqual(change?.after.promptExpiresAt, AT);
  });
});

describe('a transition input of a payout', () => {
  itFollowsTheTable<'payout'>(
    PAYOUT_TRANSITIONS,
    PAYOUT_INPUTS,
    (state) =>
      payoutWith({
        state: PAYOUT_STATES.find((each) => each === state)!,
        version: 3,
        sendDeadlineAt: state === 'queued' ? null : AT,
      }),
    nextVersion,
  );

  it('leaves the approvals, and how many of them the payout needed', () => {
    const approvals = [{ userId: PERSON, approvedAt: AT, attestation: 'attested' }];
    const before = payoutWith({ state: 'released', approvals, approvalsRequired: 1, sendDeadlineAt: SEND_DEADLINE });
    const after = changePayment(before, { kind: 'paid', operatorReceipt: '42' }, NOW, CLOCKS)?.after;
    assert.deepEqual([after?.approvals, after?.approvalsRequired], [approvals, 1]);
  });
});

describe('a transition input of a reversal', () => {
  itFollowsTheTable<'reversal'>(
    REVERSAL_TRANSITIONS,
    REVERSAL_INPUTS,
    (state) => reversalWith({ state: REVERSAL_STATES.find((each) => each === state)! }),
    () => ({}),
  );

  it('fails because the money is back already, and not by our outage, when the operator returned the collection', () => {
    const before: Reversal = reversalWith({ isCollectionReturned: true });
    assert.equal(changePayment(before, { kind: 'never_sent' }, NOW, CLOCKS)?.after.failureCode, 'already_returned');
  });
});
