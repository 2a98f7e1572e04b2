// Searches and their results on the wire.
import { z } from 'zod';
import { FOUND_BY, HIT_KINDS, MOST_HITS, type SearchHit } from '../../../domain/payments/search.ts';
import { pastedText } from '../../../domain/visible-text.ts';
import { objectSchema, printable, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';
import { currency } from './payment.ts';

export const searchSchema = z.strictObject({
  // People paste the text together with invisible characters.
  q: z
    .string()
    .transform(pastedText)
    .pipe(printable('q', 255))
    .meta({
      description:
        'An id of any kind, a reference or its beginning, a phone number in any form, an idempotency key, or an ' +
        'operator’s identifier of a payment: our reference at the operator, or the operator’s receipt. Case does not ' +
        'matter; a receipt with letters of both cases is found as it is written.',
      example: 'INV-1042',
      minLength: 1,
    }),
});

const hitSchema = objectSchema('SearchHit', {
  kind: z.enum(HIT_KINDS),
  id: z
    .string()
    .regex(/^(?:col|pay|rev|evt|dlv|whe|key|chk|req)_/)
    .meta({ example: 'col_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
  found_by: z.enum(FOUND_BY),
  state: z
    .string()
    .nullable()
    .meta({ description: 'The state of a payment, a delivery or an endpoint.', example: 'succeeded' }),
  amount: z.int().nullable().meta({ description: 'For a payment or checkout, like the next fields.', example: 5000 }),
  currency: currency.nullable(),
  reference: z.string().nullable().meta({ example: 'INV-1042' }),
  phone: z.string().nullable().meta({ example: '256772123456' }),
  title: z.string().nullable().meta({
    description:
      'The name of a key, the method and route of a request, the address of an endpoint, the type of an event or of a delivery’s event, what a checkout is for.',
    example: null,
  }),
  created_at: time,
});

export const searchHitsSchema = objectSchema('SearchHits', {
  data: z.array(hitSchema).meta({ description: `At most ${MOST_HITS}, best match first.` }),
});

export function hitObject(hit: SearchHit) {
  return wireObject(hitSchema, { ...hit, amount: hit.amountMinor });
}
