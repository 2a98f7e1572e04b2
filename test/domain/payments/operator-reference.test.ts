// Operator references: their form, and that each is of one payment and of no other.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { z } from 'zod';
import { operatorReferenceOf, type ReferenceSource } from '../../../src/domain/payments/operator-reference.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';

const source = fc.record({
  environment: fc.constantFrom('test', 'live'),
  merchantId: fc.string().map((text) => `mer_${text}` as MerchantId),
  kind: fc.constantFrom('collection', 'payout', 'reversal'),
  key: fc.string({ minLength: 1, maxLength: 255, unit: 'grapheme' }),
  generation: fc.integer({ min: 1, max: 1000 }),
}) as fc.Arbitrary<ReferenceSource>;

const EXAMPLE: ReferenceSource = {
  environment: 'live',
  merchantId: 'mer_01jgm2q5k8e7x9ab3cd4ef5g6h' as MerchantId,
  kind: 'payout',
  key: 'order-1',
  generation: 1,
};

describe('an operator reference', () => {
  it('is a UUID of version 4 and variant 10 in lower case, the same each time', () => {
    fc.assert(
      fc.property(source, (given) => {
        const reference = operatorReferenceOf(given);
        assert.match(reference, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        assert.ok(z.uuidv4().safeParse(reference).success);
        assert.equal(operatorReferenceOf({ ...given }), reference);
      }),
    );
  });

  it('never changes, because operators remember it', () => {
    assert.equal(operatorReferenceOf(EXAMPLE), 'dfe739ed-8302-4cf2-b2f5-f096e9c40e37');
  });

  it('is another one where anything of its source is another', () => {
    const others: Partial<ReferenceSource>[] = [
      { environment: 'test' },
      { merchantId: 'mer_01jgm2q5k8e7x9ab3cd4ef5g6j' as MerchantId },
      { kind: 'collection' },
      { key: 'Order-1' },
      { key: 'order-1 ' },
      { generation: 2 },
    ];
    const references = [{}, ...others].map((other) => operatorReferenceOf({ ...EXAMPLE, ...other }));
    assert.equal(new Set(references).size, references.length);
  });

  it('is the same for no two sources, whatever is in them', () => {
    fc.assert(
      fc.property(source, source, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        assert.notEqual(operatorReferenceOf(one), operatorReferenceOf(other));
      }),
    );
  });
});
