// Under which references operators are asked after a restore.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { laterReferenceOf } from '../../../src/domain/payments/operator-reference.ts';
import { questionsAbout, type DoubtfulPayment } from '../../../src/domain/payments/restore-finding.ts';

describe('the questions about a payment of a restored database', () => {
  const first = randomUUID();
  const payout = (generation: number, asked: readonly number[] = []): DoubtfulPayment => ({
    ...{ kind: 'payout', id: newId('pay'), merchantId: newId('mer'), operator: 'mtn-momo' },
    ...{ collectionReference: null, operatorReference: first, generation, asked },
  });

  it('name the current generation of a payout and two beyond it', () => {
    assert.deepEqual(questionsAbout(payout(1)), [
      { generation: 1, operatorReference: first },
      { generation: 2, operatorReference: laterReferenceOf(first, 2) },
      { generation: 3, operatorReference: laterReferenceOf(first, 3) },
    ]);
    assert.deepEqual(
      questionsAbout(payout(4)).map(({ generation }) => generation),
      [4, 5, 6],
    );
  });

  it('leave out what was asked', () => {
    assert.deepEqual(
      questionsAbout(payout(1, [1, 3])).map(({ generation }) => generation),
      [2],
    );
  });

  it('are one about a refund, which has one generation', () => {
    const refund = { ...payout(1), kind: 'reversal', id: newId('rev') } as const;
    assert.deepEqual(questionsAbout(refund), [{ generation: 1, operatorReference: first }]);
  });
});
