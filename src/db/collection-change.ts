// Writes a change of a collection: state, money, event and what it owes to webhooks, in one statement.
import type { CollectionChange } from '../domain/collection-change.ts';
import type { EventType } from '../domain/event.ts';
import type { DeliveryId, EventId } from '../domain/ids.ts';
import type { Posting } from '../domain/ledger.ts';
import { statement, type Queryable } from './database.ts';

export type NewEvent = {
  readonly id: EventId;
  readonly type: EventType;
  readonly body: string;
};

export type RecordedChange = {
  readonly change: CollectionChange;
  /** The movement of money that belongs to it, if any does. */
  readonly posting: Posting | null;
  readonly event: NewEvent;
  /** Ids for the deliveries; as many endpoints are served at the most. */
  readonly deliveryIds: readonly DeliveryId[];
};

// One statement is one transaction and one round trip. Everything hangs on `moved`: without it nothing else is written.
const RECORD = statement(
  'collection_change_record',
  `WITH moved AS (
     UPDATE collections
     SET state = $3, previous_state = state, version = version + 1, updated_at = $4::timestamptz, failure_code = $5,
         operator_receipt = coalesce($6, operator_receipt), prompt_expires_at = $7, check_due_at = $8,
         workflow_started_at = coalesce(workflow_started_at, $4)
     WHERE id = $1 AND version = $2
     RETURNING id, merchant_id, version),
   transfer AS (
     INSERT INTO ledger_transfers (kind, collection_id, debit_account_id, credit_account_id, amount_minor, currency, created_at)
     SELECT $9::text, moved.id, $10::text, $11::text, $12::bigint, $13::text, $4::timestamptz FROM moved WHERE $9::text IS NOT NULL),
   event AS (
     INSERT INTO events (id, merchant_id, type, collection_id, resource_version, body, created_at)
     SELECT $14::text, moved.merchant_id, $15::text, moved.id, moved.version, $16::text, $4::timestamptz FROM moved
     RETURNING id, merchant_id, type),
   owed AS (
     INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, next_attempt_at, created_at, updated_at)
     SELECT ids.id, e.event_id, e.id, e.merchant_id, 'pending', $4::timestamptz, $4::timestamptz, $4::timestamptz
     FROM (SELECT endpoints.id, endpoints.merchant_id, event.id AS event_id,
                  row_number() OVER (ORDER BY endpoints.id) AS n
           FROM event JOIN endpoints ON endpoints.merchant_id = event.merchant_id AND endpoints.state = 'enabled'
             AND (endpoints.event_types IS NULL OR event.type = ANY(endpoints.event_types))) AS e
     JOIN unnest($17::text[]) WITH ORDINALITY AS ids (id, n) USING (n))
   SELECT id FROM moved`,
);

/**
 * Compare-and-set on the version the change was decided on: true when all of it is written, false when the collection
 * has changed since and nothing is.
 */
export async function recordChange(db: Queryable, recorded: RecordedChange): Promise<boolean> {
  const { change, posting, event, deliveryIds } = recorded;
  const { before, after } = change;
  const rows = await db.run(RECORD, [
    before.id,
    before.version,
    after.state,
    after.updatedAt,
    after.failureCode,
    change.operatorReceipt,
    after.promptExpiresAt,
    change.checkDueAt,
    posting?.kind ?? null,
    posting?.debitAccount ?? null,
    posting?.creditAccount ?? null,
    posting?.amountMinor ?? null,
    posting?.currency ?? null,
    event.id,
    event.type,
    event.body,
    deliveryIds,
  ]);
  return rows.length === 1;
}
