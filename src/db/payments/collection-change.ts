// Writes a change of a collection in one statement: its row, the transfer, the event and the deliveries.
import { collectionPosting, type CollectionChange } from '../../domain/payments/collection-change.ts';
import { collectionEvent, type Environment } from '../../domain/event.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import type { Queryable } from '../database.ts';
import {
  announceChange,
  ANY_TRIES,
  changeStatement,
  consequencesAt,
  consequenceValues,
  withOwnReceipt,
  type Condition,
  type RecordedChange,
} from './recorded-change.ts';

const RECORD = changeStatement(
  'collection_change_record',
  'collection_id',
  `UPDATE collections
   SET state = $13, previous_state = state, version = version + 1, updated_at = $1::timestamptz, failure_code = $14,
       operator_receipt = coalesce($15, operator_receipt), prompt_expires_at = $16, check_due_at = $17,
       amount_reversed_minor = $18, workflow_started_at = coalesce(workflow_started_at, $1),
       workflow_failures = 0, start_failures = 0
   WHERE id = $11 AND version = $12 AND (send_begun_at IS NULL AND prompt_expires_at IS NULL OR NOT $19)
     AND (send_repeated_at IS NULL OR NOT $20)
   RETURNING id, merchant_id, version, request_id`,
);

/**
 * Compare-and-set on the version that the change was decided on, and on the recorded send if the change depends on it:
 * true when all of it is written, false when the collection has changed since and nothing is written. Throws
 * `ReceiptReused`.
 */
export async function recordCollectionChange(
  db: Queryable,
  change: CollectionChange,
  environment: Environment,
  { requiresOneTry }: Condition = ANY_TRIES,
): Promise<boolean> {
  const { before, after } = change;
  const consequences = consequencesAt(after.updatedAt, collectionPosting(after), (event) =>
    collectionEvent(after, { ...event, environment }),
  );
  const values = [
    ...consequenceValues(consequences),
    before.id,
    before.version,
    after.state,
    after.failureCode,
    after.operatorReceipt,
    after.promptExpiresAt,
    change.checkDueAt,
    after.amountReversedMinor,
    change.requiresNotSent,
    requiresOneTry,
  ];
  const [written] = await withOwnReceipt(after.operatorReceipt, () => db.run<RecordedChange>(RECORD, values));
  if (!written) return false;
  announceChange(db, written, entryOf('collection', after, { from: before.state, eventId: consequences.event.id }));
  return true;
}
