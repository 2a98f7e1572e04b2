// Collections on the wire.
import { z } from 'zod';
import { COLLECTION_STATES, type CollectionState } from '../../../domain/payments/collection.ts';
import { isId } from '../../../domain/ids.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { time } from '../primitives.ts';
import { failure, operator, paymentFields, paymentFilters } from './payment.ts';

const state = z.enum(COLLECTION_STATES as [CollectionState, ...CollectionState[]]).meta({ id: 'CollectionState' });

export const createCollectionSchema = z.strictObject(paymentFields).meta({ id: 'CreateCollection' });

export const collectionSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^col_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      .meta({ example: 'col_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
    state,
    amount: z.int().min(1),
    currency: z.string().regex(/^[A-Z]{3}$/),
    reference: z.string(),
    phone: z.string(),
    operator,
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    failure: failure.meta({ description: 'Why it failed or expired.' }),
    operator_reference: z.uuid().meta({ description: 'What the operator knows the payment by.' }),
    amount_reversed: z.int().min(0),
    created_at: time,
    updated_at: time,
    prompt_expires_at: time.nullable().meta({ description: 'Null until the operator took the prompt.' }),
  })
  .meta({ id: 'Collection' });

export const collectionListSchema = pageSchema(collectionSchema, 'CollectionList');

export const listCollectionsSchema = z.strictObject({
  ...pageQuery((id) => isId('col', id)).shape,
  ...paymentFilters,
  state: state.optional(),
});
