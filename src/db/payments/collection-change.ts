// Writes a change of a collection in one statement: its row, the transfer, the event and the deliveries.
import { collectionPosting, type CollectionChange } from '../../domain/payments/collection-change.ts';
import { collectionEvent, type Environment } from '../../domain/event.ts';
import type { StatusBasis } from '../../domain/payments/operator-status.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import type { Queryable } from '../platform/database.ts';
import type { NewExchange } from './operator-exchange.ts';
import {
  announceChange,
  ANY_TRIES,
  changeStatement,
  consequencesOfState,
  consequenceValues,
  withOwnReceipt,
  type Condition,
  type RecordedChange,
} from './recorded-change.ts';

const RECORD = changeStatement(
  'collection_change_record',
  `UPDATE payments
   SET state = $16, previous_state = state, version = version + 1, updated_at = $1::timestamptz, failure_code = $17,
       operator_receipt = coalesce($18, operator_receipt), prompt_expires_at = $19, check_due_at = $20,
       amount_reversed_minor = $21, workflow_started_at = coalesce(workflow_started_at, $1),
       workflow_failures = 0, start_failures = 0
   WHERE id = $14 AND version = $15 AND (send_begun_at IS NULL AND prompt_expires_at IS NULL OR NOT $22)
     AND (send_repeated_at IS NULL OR NOT $23)
   RETURNING id, merchant_id, version, request_id`,
  `exchange AS (
     INSERT INTO operator_exchanges (merchant_id, payment_id, kind, started_at, duration_ms, outcome, failure_code)
     SELECT moved.merchant_id, moved.id, $24::text, $25::timestamptz, $26::integer, $27::text, $28::text FROM moved
     WHERE $24::text IS NOT NULL)`,
);

type CollectionCondition = Condition & {
  /** Of the verified status on which the change rests; null or absent where no status decided. */
  readonly basis?: StatusBasis | null;
  /** Written with the change: a collection has few, so no limit of theirs applies. */
  readonly exchange?: NewExchange | null;
};

/**
 * Compare-and-set on the version that the change was decided on, and on the recorded send if the change depends on it:
 * true when all of it is written, false when the collection has changed since and nothing is written. Throws
 * `ReceiptReused`.
 */
export async function recordCollectionChange(
  db: Queryable,
  change: CollectionChange,
  environment: Environment,
  { requiresOneTry, basis = null, exchange = null }: CollectionCondition = ANY_TRIES,
): Promise<boolean> {
  const { before, after } = change;
  const entered = { id: after.id, at: after.updatedAt, posting: collectionPosting(after), basis };
  const consequences = consequencesOfState(db, entered, (event) => collectionEvent(after, { ...event, environment }));
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
    exchange?.kind,
    exchange?.startedAt,
    exchange?.durationMs,
    exchange?.outcome,
    exchange?.failureCode,
  ];
  const [written] = await withOwnReceipt(after.operatorReceipt, () => db.run<RecordedChange>(RECORD, values));
  if (!written) return false;
  announceChange(db, written, entryOf('collection', after, { from: before.state, eventId: consequences.event.id }));
  return true;
}
