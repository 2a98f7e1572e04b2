// Collections on the wire.
import { z } from 'zod';
import { COLLECTION_STATES, type CollectionState } from '../../../domain/payments/collection.ts';
import { isId } from '../../../domain/ids.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { idOf, time } from '../primitives.ts';
import { idempotencyKeyFilter, paymentFields, paymentFilters, shownFields } from './payment.ts';

export const collectionState = z
  .enum(COLLECTION_STATES as [CollectionState, ...CollectionState[]])
  .meta({ id: 'CollectionState' });

export const createCollectionSchema = z.strictObject(paymentFields).meta({ id: 'CreateCollection' });

export const collectionSchema = z
  .strictObject({
    id: idOf('col'),
    state: collectionState,
    ...shownFields('Why it failed or expired.'),
    created_at: time,
    updated_at: time,
    prompt_expires_at: time
      .nullable()
      .meta({ example: null, description: 'Null until the operator accepts the prompt.' }),
  })
  .meta({ id: 'Collection' });

export const collectionListSchema = pageSchema(collectionSchema, 'CollectionList');

export const listCollectionsSchema = z.strictObject({
  ...pageQuery((id) => isId('col', id)).shape,
  ...paymentFilters,
  state: collectionState.optional(),
  idempotency_key: idempotencyKeyFilter,
});
