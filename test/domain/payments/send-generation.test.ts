// The generations of a payout that the operator refused for our float: when there is a next one, and under which reference it is sent.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import { laterReferenceOf } from '../../../src/domain/payments/operator-reference.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import {
  generationOf,
  nextGeneration,
  sendAgainAt,
  sentReferenceOf,
} from '../../../src/domain/payments/send-generation.ts';
import { AT } from './collections.ts';
import { payoutWith } from './payouts.ts';

const CODE = 'operator_unavailable';
const MINUTE_MS = 60_000;
const after = (ms: number) => new Date(AT.getTime() + ms);
const SENT = { state: 'released', sendBegunAt: AT, sendDeadlineAt: after(60 * MINUTE_MS) } as const;
const next = (payout: Payout, at = AT) => nextGeneration(payout, CODE, at, REAL_CLOCKS);

/** The payout after the generation was recorded, and after its send began if `sendBegunAt` says when. */
function refused(payout: Payout, sendBegunAt: Date | null = null): Payout {
  const generation = next(payout);
  assert.ok(generation);
  return { ...payout, sendBegunAt, generation: { ...generation, attestation: 'a' } };
}

describe('the next generation of a payout', () => {
  it('has a reference of its own, which follows from the first one, and is sent after a pause', () => {
    const payout = payoutWith(SENT);
    assert.deepEqual(next(payout), {
      number: 2,
      operatorReference: laterReferenceOf(payout.operatorReference, 2),
      failureCode: CODE,
      recordedAt: AT,
      sendAfter: after(MINUTE_MS),
    });
  });

  it('has no reference of any other generation or payment, and always the same one', () => {
    fc.assert(
      fc.property(fc.uuid({ version: 4 }), fc.integer({ min: 2, max: 500 }), (first, number) => {
        const reference = laterReferenceOf(first, number);
        assert.match(reference, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        assert.equal(laterReferenceOf(first, number), reference);
        assert.notEqual(reference, first);
        assert.notEqual(laterReferenceOf(first, number + 1), reference);
      }),
    );
  });

  it('waits longer after each refusal, until the longest pause repeats', () => {
    let payout = payoutWith(SENT);
    const pauses = Array.from({ length: 4 }, () => {
      payout = refused(payout, AT);
      return (payout.generation?.sendAfter.getTime() ?? 0) - AT.getTime();
    });
    assert.deepEqual(
      pauses,
      [1, 2, 5, 5].map((minutes) => minutes * MINUTE_MS),
    );
  });

  for (const [what, fields] of [
    ['was not sent', { sendBegunAt: null }],
    ['is overdue', { state: 'reconciling' }],
    ['is final', { state: 'failed' }],
    ['may not be sent yet', { sendDeadlineAt: null }],
    ['has reached its send deadline', { sendDeadlineAt: AT }],
  ] as const) {
    it(`does not exist for a payout that ${what}`, () => {
      assert.equal(next(payoutWith({ ...SENT, ...fields })), null);
    });
  }

  it('does not follow one that is not sent yet', () => {
    assert.equal(next(refused(payoutWith(SENT))), null);
  });
});

describe('a payout', () => {
  it('is known to the operator by the reference of its current generation', () => {
    const payout = payoutWith(SENT);
    assert.deepEqual([generationOf(payout), sentReferenceOf(payout)], [1, payout.operatorReference]);
    const later = refused(payout);
    assert.deepEqual([generationOf(later), sentReferenceOf(later)], [2, laterReferenceOf(payout.operatorReference, 2)]);
  });

  it('waits to be sent again from the refusal until a send begins, and only then', () => {
    assert.equal(sendAgainAt(payoutWith(SENT)), null);
    const waiting = refused(payoutWith(SENT));
    assert.deepEqual(sendAgainAt(waiting), after(MINUTE_MS));
    assert.equal(sendAgainAt({ ...waiting, sendBegunAt: AT }), null);
    assert.equal(sendAgainAt({ ...waiting, state: 'cancelled' }), null);
  });
});
