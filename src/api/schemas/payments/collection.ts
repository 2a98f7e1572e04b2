// Collections on the wire.
import { z } from 'zod';
import { COLLECTION_STATES } from '../../../domain/payments/collection.ts';
import { isId } from '../../../domain/ids.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { idOf, objectSchema, time } from '../primitives.ts';
import { idempotencyKeyFilter, paymentFields, paymentFilters, shownFields } from './payment.ts';

export const collectionState = z.enum(COLLECTION_STATES).meta({ id: 'CollectionState' });

export const createCollectionSchema = objectSchema('CreateCollection', paymentFields);

export const collectionSchema = objectSchema('Collection', {
  id: idOf('col'),
  state: collectionState,
  ...shownFields('Why it failed or expired.'),
  created_at: time,
  updated_at: time,
  prompt_expires_at: time
    .nullable()
    .meta({ example: null, description: 'Null until the operator accepts the prompt.' }),
});

export const collectionListSchema = pageSchema(collectionSchema, 'CollectionList');

export const listCollectionsSchema = z.strictObject({
  ...pageQuery((id) => isId('col', id)).shape,
  ...paymentFilters,
  state: collectionState.optional(),
  idempotency_key: idempotencyKeyFilter,
});
