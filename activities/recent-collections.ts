// Collections as activities of this process read them a moment ago, for the recording that follows.
import type { Collection } from '../src/domain/payments/collection.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';

export type RecentCollections = {
  note(collection: Collection): void;
  /** Once for each note. */
  take(ref: Pick<PaymentRef<'collection'>, 'id'>): Collection | undefined;
};

/** More than are on their way between two activities. Of one that nothing is recorded of, the place is soon another's. */
const MOST = 1000;

/**
 * Saves the recording of a transition its read. Nothing depends on it: a change is written only if the row still has the version that it
 * was decided on, and whatever else comes of the decision is decided again on a read.
 */
export function createRecentCollections(): RecentCollections {
  const recent = new Map<string, Collection>();
  return {
    note(collection) {
      recent.delete(collection.id);
      recent.set(collection.id, collection);
      const [oldest] = recent.keys();
      if (recent.size > MOST && oldest !== undefined) recent.delete(oldest);
    },
    take({ id }) {
      const collection = recent.get(id);
      recent.delete(id);
      return collection;
    },
  };
}
