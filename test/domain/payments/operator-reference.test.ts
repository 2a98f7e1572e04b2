// Operator references: their form, their order, and how many of their bits are random.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { z } from 'zod';
import { newOperatorReference } from '../../../src/domain/payments/operator-reference.ts';

const LAST_MS = 2 ** 48 - 1;
const MANY = 2000;

/** Its 128 bits. */
function bitsOf(reference: string): string {
  return BigInt(`0x${reference.replaceAll('-', '')}`)
    .toString(2)
    .padStart(128, '0');
}

describe('an operator reference', () => {
  it('is a UUID of version 4 and variant 10 in lower case, whatever the time', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (atMs) => {
        const reference = newOperatorReference(atMs);
        assert.match(reference, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        assert.ok(z.uuidv4().safeParse(reference).success);
      }),
    );
  });

  it('sorts after every one of an earlier millisecond', () => {
    const moment = fc.integer({ min: 0, max: LAST_MS - 1 });
    fc.assert(
      fc.property(moment, fc.integer({ min: 1, max: 1_000_000 }), (atMs, laterMs) => {
        assert.ok(newOperatorReference(atMs) < newOperatorReference(Math.min(atMs + laterMs, LAST_MS)));
      }),
    );
  });

  it('is another one each time, also within a millisecond', () => {
    const references = Array.from({ length: MANY }, () => newOperatorReference(1));
    assert.equal(new Set(references).size, MANY);
  });

  it('cannot be guessed from the time, because 74 bits are random', () => {
    const all = Array.from({ length: MANY }, () => bitsOf(newOperatorReference(1)));
    const isRandom = (bit: number) => {
      const ones = all.filter((bits) => bits[bit] === '1').length;
      // Nine standard deviations from a half.
      return Math.abs(ones - MANY / 2) < 4.5 * Math.sqrt(MANY);
    };
    const random = Array.from({ length: 128 }, (_, bit) => bit).filter(isRandom);
    const expected = Array.from({ length: 80 }, (_, index) => 48 + index);
    assert.deepEqual(
      random,
      expected.filter((bit) => !(bit >= 48 && bit < 52) && bit !== 64 && bit !== 65),
    );
    assert.equal(random.length, 74);
  });
});
