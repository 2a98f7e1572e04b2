// Pending collections as activities of this process last read or recorded them, for the status query and the recording that follow.
import type { Collection } from '../src/domain/payments/collection.ts';
import { isFinal, type PaymentRef } from '../src/domain/payments/payment.ts';

export type RecentCollections = {
  note(collection: Collection): void;
  find(ref: PaymentRef<'collection'>): Collection | undefined;
  /** Once for each note. */
  take(ref: PaymentRef<'collection'>): Collection | undefined;
};

/** As many as wait for their operator at 30 a second, if each takes half a minute. What is not here is read. */
const MOST = 1000;

/**
 * Saves a status query and the recording of a transition their reads. Nothing depends on it: of what a query needs nothing ever changes; a
 * change is written only if the row still has the version that it was decided on, and whatever else comes of the decision is decided again
 * on a read.
 */
export function createRecentCollections(): RecentCollections {
  const recent = new Map<string, Collection>();
  const find = ({ id, merchantId }: PaymentRef<'collection'>): Collection | undefined => {
    const collection = recent.get(id);
    return collection?.merchantId === merchantId ? collection : undefined;
  };
  return {
    note(collection) {
      recent.delete(collection.id);
      if (isFinal(collection.state)) return;
      recent.set(collection.id, collection);
      const [oldest] = recent.keys();
      if (recent.size > MOST && oldest !== undefined) recent.delete(oldest);
    },
    find,
    take(ref) {
      const collection = find(ref);
      recent.delete(ref.id);
      return collection;
    },
  };
}
