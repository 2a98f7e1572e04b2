// What is made of the operator's word on a payout: every state, every word, every relation of now to deadline and grace.
import assert from 'node:assert/strict';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS, type PayoutState } from '../../../src/domain/payments/payout.ts';
import {
  payoutFactToRecord,
  type PayoutStanding,
  type RecordablePayoutFact,
} from '../../../src/domain/payments/payout-progress.ts';
import type { OperatorWord } from '../../../src/domain/payments/operator-status.ts';

const DEADLINE_MS = 1_000_000;
const GRACE_MS = 1000;

const WORDS: readonly OperatorWord[] = [
  { kind: 'paid', operatorReceipt: '42' },
  { kind: 'returned', operatorReceipt: '42' },
  { kind: 'declined', failureCode: 'payer_not_found' },
  { kind: 'pending' },
  { kind: 'not_found' },
  { kind: 'unknown' },
];

// Each boundary, the millisecond before it, and far beyond.
const MOMENTS = [
  0,
  DEADLINE_MS - 1,
  DEADLINE_MS,
  DEADLINE_MS + GRACE_MS - 1,
  DEADLINE_MS + GRACE_MS,
  10_000_000,
  100_000_000_000,
];

type Case = { state: PayoutState; word: OperatorWord; nowMs: number; deadlineMs: number | null };
type Rule = { when: string; fits: (given: Case) => boolean; records: (given: Case) => RecordablePayoutFact | null };

const isUnderWay = ({ state }: Case) => state === 'released' || state === 'reconciling';
const isNeverTaken = ({ word, nowMs, deadlineMs }: Case) =>
  word.kind === 'not_found' && deadlineMs !== null && nowMs >= deadlineMs + GRACE_MS;

// The rules once more, as lines of a table read from the top: the first that fits says what is recorded.
const RULES: readonly Rule[] = [
  {
    when: 'the provider gave back what was paid',
    fits: ({ state, word }) => state === 'succeeded' && word.kind === 'returned',
    records: () => ({ fact: 'returned' }),
  },
  {
    when: 'it is not released yet, or has ended',
    fits: (given) => !isUnderWay(given),
    records: () => null,
  },
  {
    when: 'nothing could have been sent',
    fits: ({ deadlineMs }) => deadlineMs === null,
    records: () => null,
  },
  {
    when: 'the operator paid, whether or not it was returned since',
    fits: ({ word }) => word.kind === 'paid' || word.kind === 'returned',
    records: () => ({ fact: 'paid', operatorReceipt: '42' }),
  },
  {
    when: 'the operator will not pay',
    fits: ({ word }) => word.kind === 'declined',
    records: () => ({ fact: 'declined', failureCode: 'payer_not_found' }),
  },
  {
    when: 'the operator does not know it, and no send can still be on its way',
    fits: isNeverTaken,
    records: ({ nowMs }) => ({ fact: 'never_taken', askedAtMs: nowMs }),
  },
  {
    when: 'nothing more is sent, and the end is not known',
    fits: ({ state, nowMs }) => state === 'released' && nowMs >= DEADLINE_MS,
    records: () => ({ fact: 'outcome_unknown' }),
  },
  { when: 'there is only waiting', fits: () => true, records: () => null },
];

const CASES: readonly Case[] = PAYOUT_STATES.flatMap((state) =>
  WORDS.flatMap((word) =>
    MOMENTS.flatMap((nowMs) => [DEADLINE_MS, null].map((deadlineMs) => ({ state, word, nowMs, deadlineMs }))),
  ),
);

function decide({ state, word, nowMs, deadlineMs }: Case): RecordablePayoutFact | null {
  const standing: PayoutStanding = {
    state,
    approvals: 1,
    approvalsRequired: 1,
    expiresAtMs: 500_000,
    sendDeadlineAtMs: deadlineMs,
    isTaken: false,
  };
  return payoutFactToRecord(standing, word, nowMs, GRACE_MS);
}

describe('what is recorded of the operator’s word on a payout', () => {
  const untried = new Set(RULES);
  for (const rule of RULES) {
    const cases = CASES.filter((given) => RULES.find(({ fits }) => fits(given)) === rule);
    it(`is as the table says when ${rule.when} (${cases.length} cases)`, () => {
      assert.ok(cases.length > 0);
      for (const given of cases) assert.deepEqual(decide(given), rule.records(given), JSON.stringify(given));
      untried.delete(rule);
    });
  }

  it('leaves no line of the table untried', () => {
    assert.equal(untried.size, 0);
  });

  it('is only ever a fact that leads on from the state', () => {
    for (const given of CASES) {
      const recorded = decide(given);
      assert.ok(recorded === null || PAYOUT_TRANSITIONS[given.state][recorded.fact] !== undefined);
    }
  });

  it('is paid only by the operator’s own word', () => {
    for (const given of CASES) {
      if (decide(given)?.fact !== 'paid') continue;
      assert.ok(given.word.kind === 'paid' || given.word.kind === 'returned', JSON.stringify(given));
    }
  });

  it('gives held money back only on the operator’s word, or when it never had the payout and never will', () => {
    for (const given of CASES) {
      const fact = decide(given)?.fact;
      if (fact === 'declined') assert.equal(given.word.kind, 'declined', JSON.stringify(given));
      if (fact === 'never_taken') assert.ok(isNeverTaken(given), JSON.stringify(given));
    }
  });

  it('never ends a payout by waiting alone, however long', () => {
    for (const given of CASES.filter(({ word }) => word.kind === 'pending' || word.kind === 'unknown')) {
      assert.ok([undefined, 'outcome_unknown'].includes(decide(given)?.fact), JSON.stringify(given));
    }
  });

  it('is never given back on a "never heard of it" once the operator had it, however late that comes', () => {
    for (const state of ['released', 'reconciling'] as const) {
      const standing: PayoutStanding = {
        state,
        approvals: 1,
        approvalsRequired: 1,
        expiresAtMs: 0,
        sendDeadlineAtMs: 1000,
        isTaken: true,
      };
      const fact = payoutFactToRecord(standing, { kind: 'not_found' }, 1_000_000, 10);
      assert.deepEqual(fact, state === 'released' ? { fact: 'outcome_unknown' } : null);
    }
  });
});
