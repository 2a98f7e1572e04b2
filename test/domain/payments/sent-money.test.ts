// What operators say of sent money: what follows from it, what it contradicts, and that we heard it.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { isProven, proveHeard } from '../../../src/security/status-attestation.ts';
import { newId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES } from '../../../src/domain/payments/payout.ts';
import type { KeyRing } from '../../../src/security/sealing.ts';
import {
  followsFrom,
  type Heard,
  type RecordedFact,
  type OperatorWord,
} from '../../../src/domain/payments/operator-status.ts';
import { contradictionIn, isNeverTaken } from '../../../src/domain/payments/sent-money.ts';

const PAID: OperatorWord = { kind: 'paid', operatorReceipt: '42' };
const RETURNED: OperatorWord = { kind: 'returned', operatorReceipt: '42' };
const DECLINED: OperatorWord = { kind: 'declined', failureCode: 'payer_not_found' };
const NOT_FOUND: OperatorWord = { kind: 'not_found' };
const WORDS: readonly OperatorWord[] = [PAID, RETURNED, DECLINED, NOT_FOUND, { kind: 'pending' }, { kind: 'unknown' }];
const ASKED_AT_MS = 1000;

describe('a fact about sent money', () => {
  const FROM: readonly (readonly [RecordedFact, readonly OperatorWord[]])[] = [
    [{ fact: 'lapsed' }, WORDS],
    [{ fact: 'outcome_unknown' }, WORDS],
    [{ fact: 'paid', operatorReceipt: '42' }, [PAID, RETURNED]],
    [{ fact: 'paid', operatorReceipt: '43' }, []],
    [{ fact: 'refunded' }, [PAID]],
    [{ fact: 'returned' }, [RETURNED]],
    [{ fact: 'declined', failureCode: 'payer_not_found' }, [DECLINED]],
    [{ fact: 'declined', failureCode: 'operator_rejected' }, []],
    [{ fact: 'never_taken', askedAtMs: ASKED_AT_MS }, [NOT_FOUND]],
    [{ fact: 'never_taken', askedAtMs: ASKED_AT_MS + 1 }, []],
  ];
  for (const [fact, words] of FROM) {
    it(`${JSON.stringify(fact)} follows from ${words.map(({ kind }) => kind).join(', ') || 'nothing'}`, () => {
      const following = WORDS.filter((word) => followsFrom(fact, { word, askedAtMs: ASKED_AT_MS, proof: '' }));
      assert.deepEqual(following, words);
    });
  }
});

describe('"never heard of it"', () => {
  const sent = { sendDeadlineAtMs: 1000, isTaken: false };
  it('counts from the grace after the deadline on', () => {
    assert.deepEqual(
      [1000, 1009, 1010].map((askedAtMs) => isNeverTaken(sent, askedAtMs, 10)),
      [false, false, true],
    );
  });
  it('never counts of what the operator had, or of what may not be sent yet', () => {
    assert.equal(isNeverTaken({ ...sent, isTaken: true }, 10_000, 10), false);
    assert.equal(isNeverTaken({ ...sent, sendDeadlineAtMs: null }, 10_000, 10), false);
  });
});

describe('what an operator says of money that has ended', () => {
  it('contradicts a failure by "paid", a payment by "declined", and nothing else', () => {
    const found = PAYOUT_STATES.flatMap((state) =>
      WORDS.flatMap((word) => {
        const kind = contradictionIn(state, word);
        return kind === null ? [] : [`${state} ${word.kind}: ${kind}`];
      }),
    );
    assert.deepEqual(found, ['succeeded declined: declined_after_paid', 'failed paid: paid_after_failed']);
  });
});

describe('the proof that we heard an answer', () => {
  const newKey = (name: string) => ({ name, key: createSecretKey(randomBytes(32)) });
  const ring: KeyRing = [newKey('now')];
  const id = newId('pay');

  it('holds after its way through Temporal, and under a ring that has the key no longer first', () => {
    for (const word of WORDS) {
      const heard = JSON.parse(JSON.stringify(proveHeard(id, word, ASKED_AT_MS, ring))) as Heard;
      assert.ok(isProven(id, heard, ring));
      assert.ok(isProven(id, heard, [newKey('next'), ...ring]));
    }
  });

  it('does not hold for another payment, moment, answer or key', () => {
    const heard = proveHeard(id, PAID, ASKED_AT_MS, ring);
    assert.ok(!isProven(newId('pay'), heard, ring));
    assert.ok(!isProven(id, { ...heard, askedAtMs: ASKED_AT_MS + 1 }, ring));
    assert.ok(!isProven(id, heard, [newKey('now')]));
    for (const word of [...WORDS.slice(1), { ...PAID, operatorReceipt: '43' }]) {
      assert.ok(!isProven(id, { ...heard, word }, ring), JSON.stringify(word));
    }
    for (const proof of ['', 'AAAA', heard.proof.slice(1)]) assert.ok(!isProven(id, { ...heard, proof }, ring));
  });
});
