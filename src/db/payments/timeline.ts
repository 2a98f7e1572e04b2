// Reads the records of one payment besides its row: changes, money, callbacks, deliveries and discrepancies.
import type { EventType } from '../../domain/event.ts';
import type { DeliveryId, EventId, MerchantId, UserId } from '../../domain/ids.ts';
import { availableAccount, heldAccount, type AccountId, type PostingKind } from '../../domain/payments/ledger.ts';
import type { MessagePurpose } from '../../domain/payments/operator-catalogue.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import {
  MOST_ATTEMPTS,
  MOST_OF_A_KIND,
  type TimelineDelivery,
  type TimelineDiscrepancy,
  type TimelineEntry,
  type TimelineState,
} from '../../domain/payments/timeline.ts';
import { statement, type Queryable } from '../platform/database.ts';

export type ListedRef = PaymentRef<'collection' | 'payout'>;

const STATES = statement('timeline_states')`
  SELECT id AS event_id, type, created_at, body::json -> 'data' ->> 'previous_state' AS previous_state,
    coalesce((body::json -> 'data' ->> 'late')::boolean, false) AS is_late
  FROM events WHERE payment_id = $1 ORDER BY resource_version LIMIT $2`;

export type RecordedState = Pick<TimelineState, 'previousState' | 'isLate'> & {
  readonly eventId: EventId;
  readonly type: EventType;
  readonly createdAt: Date;
};

/** The changes of state that events report, oldest first. */
export async function listRecordedStates(db: Queryable, { id }: ListedRef): Promise<RecordedState[]> {
  return db.run<RecordedState>(STATES, [id, MOST_OF_A_KIND]);
}

const TRANSFERS = statement('timeline_transfers')`
  SELECT kind, amount_minor, debit_account_id, credit_account_id, created_at FROM ledger_transfers
  WHERE payment_id = $1 ORDER BY ledger_transfers.id LIMIT $2`;

type TransferRow = {
  readonly kind: PostingKind;
  readonly amountMinor: bigint;
  readonly debitAccountId: AccountId;
  readonly creditAccountId: AccountId;
  readonly createdAt: Date;
};

export async function listTransfers(db: Queryable, { id, merchantId }: ListedRef): Promise<TimelineEntry[]> {
  const rows = await db.run<TransferRow>(TRANSFERS, [id, MOST_OF_A_KIND]);
  return rows.map((row) => {
    const { kind, amountMinor } = row;
    const changeOf = (account: AccountId) =>
      row.creditAccountId === account ? amountMinor : row.debitAccountId === account ? -amountMinor : 0n;
    const availableMinor = changeOf(availableAccount(merchantId));
    const heldMinor = changeOf(heldAccount(merchantId));
    return { kind: 'ledger_transfer', at: row.createdAt, detail: { kind, amountMinor, availableMinor, heldMinor } };
  });
}

const CALLBACKS = statement('timeline_callbacks')`
  SELECT received_at AS at, purpose FROM operator_callbacks WHERE payment_id = $1 ORDER BY id LIMIT $2`;

export async function listCallbacks(db: Queryable, { id }: ListedRef): Promise<TimelineEntry[]> {
  type Row = { readonly at: Date; readonly purpose: MessagePurpose | null };
  const rows = await db.run<Row>(CALLBACKS, [id, MOST_OF_A_KIND]);
  return rows.map(({ at, purpose }) => ({ kind: 'operator_callback', at, detail: purpose }));
}

const DISCREPANCIES = statement('timeline_discrepancies')`
  SELECT kind, found_at, settled_at, settled_how AS settlement FROM discrepancies
  WHERE payment_id = ANY($1) ORDER BY discrepancies.id LIMIT $2`;

/** The discrepancies of a payment and of its reversals. */
export async function listDiscrepanciesOf(db: Queryable, ids: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await db.run<TimelineDiscrepancy & { readonly foundAt: Date }>(DISCREPANCIES, [ids, MOST_OF_A_KIND]);
  return rows.map(({ foundAt, ...detail }) => ({ kind: 'discrepancy', at: foundAt, detail }));
}

const REVERSALS = statement('timeline_reversals')`
  SELECT id, state, created_by AS requested_by, created_at FROM payments WHERE merchant_id = $1 AND collection_id = $2
  ORDER BY id LIMIT $3`;

export type RequestedReversal = Pick<Reversal, 'id' | 'state' | 'createdAt'> & { readonly requestedBy: UserId };

export async function listReversalsOf(
  db: Queryable,
  merchantId: MerchantId,
  collectionId: string,
): Promise<RequestedReversal[]> {
  return db.run<RequestedReversal>(REVERSALS, [merchantId, collectionId, MOST_OF_A_KIND]);
}

const DELIVERIES = statement('timeline_deliveries')`
  SELECT d.id, d.event_id, v.type AS event_type, d.endpoint_id, e.url AS endpoint_url, d.state, d.attempt_count,
    d.next_attempt_at, d.created_at
  FROM events v JOIN deliveries d ON d.event_id = v.id JOIN endpoints e ON e.id = d.endpoint_id
  WHERE v.payment_id = $1 ORDER BY d.id LIMIT $2`;
const ATTEMPTS = statement('timeline_attempts')`
  SELECT d.id, a.attempt_number AS number, a.started_at, a.duration_ms, a.status_code, a.error
  FROM unnest($1::text[]) AS d (id) CROSS JOIN LATERAL (
    SELECT * FROM delivery_attempts a WHERE a.delivery_id = d.id ORDER BY a.attempt_number DESC LIMIT ${MOST_ATTEMPTS}) AS a
  ORDER BY a.attempt_number`;

type AttemptRow = TimelineDelivery['attempts'][number] & { readonly id: DeliveryId };

export async function listDeliveriesOfPayment(db: Queryable, { id }: ListedRef): Promise<TimelineEntry[]> {
  const deliveries = await db.run<Omit<TimelineDelivery, 'attempts'>>(DELIVERIES, [id, MOST_OF_A_KIND]);
  if (deliveries.length === 0) return [];
  const rows = await db.run<AttemptRow>(ATTEMPTS, [deliveries.map((delivery) => delivery.id)]);
  return deliveries.map((delivery) => {
    const attempts = rows.flatMap(({ id, ...attempt }) => (id === delivery.id ? [attempt] : []));
    return { kind: 'delivery', at: delivery.createdAt, detail: { ...delivery, attempts } };
  });
}
