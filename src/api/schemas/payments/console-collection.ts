// Collections as people see them in the console.
import type { z } from 'zod';
import { collectionObject, type CollectionState } from '../../../domain/payments/collection.ts';
import type { ListFilter } from '../../../domain/payments/payment-list.ts';
import { isFinal } from '../../../domain/payments/payment.ts';
import type { ConsoleCollection } from '../../../operations/payments/read-console-payments.ts';
import { definedFields } from '../../validation.ts';
import { knownPerson } from '../accounts/person.ts';
import { idFilter, pageSchema } from '../page.ts';
import { idOf, objectSchema } from '../primitives.ts';
import { completedAt } from './decision.ts';
import { collectionSchema, collectionState } from './collection.ts';
import { consoleFilter, consoleQueries, statesInAll, knownKey } from './console-list.ts';
import { shownIdempotencyKey, shownReceipt } from './payment.ts';
import { historyFields } from './timeline.ts';

const consoleCollectionSchema = objectSchema('ConsoleCollection', {
  ...collectionSchema.shape,
  idempotency_key: shownIdempotencyKey,
  operator_receipt: shownReceipt,
  created_by: knownPerson.nullable().meta({
    description: 'The person who requested it in a session. Null: a key or a payer at a checkout requested it.',
  }),
  api_key: knownKey.nullable().meta({ description: 'The key that requested it, if any.' }),
  checkout_id: idOf('chk').nullable().meta({ description: 'The checkout that a payer used, if any.', example: null }),
  completed_at: completedAt,
});
export const consoleCollectionListSchema = pageSchema(consoleCollectionSchema, 'ConsoleCollectionList');

export const collectionWithTimelineSchema = objectSchema('CollectionWithTimeline', {
  ...consoleCollectionSchema.shape,
  ...historyFields,
});

export const collectionQueries = consoleQueries('col', collectionState, {
  checkout_id: idFilter('checkout_id', 'chk').meta({
    description: 'The checkout that the payers used.',
  }),
});

type CollectionQuery = z.output<typeof collectionQueries.count> & {
  readonly state?: CollectionState | undefined;
};

export function collectionFilter({ state, states, checkout_id: checkoutId, ...query }: CollectionQuery): ListFilter {
  return { ...consoleFilter(query), ...definedFields({ checkoutId, states: statesInAll([state && [state], states]) }) };
}

export function consoleCollectionObject({ collection, createdBy, apiKey, checkoutId }: ConsoleCollection) {
  return {
    ...collectionObject(collection),
    idempotency_key: collection.idempotencyKey,
    operator_receipt: collection.operatorReceipt,
    created_by: createdBy,
    api_key: apiKey,
    checkout_id: checkoutId,
    completed_at: isFinal(collection.state) ? collection.updatedAt.toISOString() : null,
  };
}
