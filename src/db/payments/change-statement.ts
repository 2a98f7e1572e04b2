// Builds the one statement for a change of a payment: its row, the transfer, the event and the deliveries.
import { newDeliveryIds } from '../../domain/webhooks/endpoint.ts';
import { paymentEvent, type Environment, type EventType } from '../../domain/event.ts';
import { newId, type DeliveryId, type EventId } from '../../domain/ids.ts';
import type { Posting } from '../../domain/payments/ledger.ts';
import type { StatusBasis } from '../../domain/payments/operator-status.ts';
import { postingOf } from '../../domain/payments/payment-change.ts';
import type { Payment } from '../../domain/payments/payment.ts';
import { IssuedIdReused, ReceiptReused } from '../../domain/payments/discrepancy.ts';
import { DatabaseError } from 'pg';
import type { StateChange } from '../../domain/payments/state-change.ts';
import { DELIVERIES_OWED, statement, type Queryable, type Statement } from '../platform/database.ts';
import { attestedFailureOf, attestedStatusOf, type AttestedCreditStatus } from './attested-credit.ts';

export type Consequences = {
  /** Null if the change moves no money. */
  readonly posting: Posting | null;
  /** The basis of the posting or of a refund's failure; null if the change makes no money available. */
  readonly status: AttestedCreditStatus | null;
  /** Null for a refund: an event of its collection reports the refund. */
  readonly event: { readonly id: EventId; readonly type: EventType; readonly body: string } | null;
  /** Ids for the deliveries: at most as many endpoints receive the event. */
  readonly deliveryIds: readonly DeliveryId[];
  readonly at: Date;
};

/** A change that was written, and whether a delivery of its event is owed. */
export type RecordedChange = { readonly isOwed: boolean };

/** Announces a change that was written. */
export function announceChange(db: Queryable, { isOwed }: RecordedChange, change: StateChange): void {
  db.announce(change);
  if (isOwed) db.announce(DELIVERIES_OWED);
}

/**
 * The rows that a payment's new state needs besides its own row. A posting that makes money available is attested with `basis`, the
 * status that decided the state; null if no status decided.
 */
export function consequencesOf(
  db: Queryable,
  payment: Payment,
  environment: Environment,
  basis: StatusBasis | null = null,
): Consequences {
  const at = payment.updatedAt;
  if (payment.kind === 'reversal') {
    const status = payment.state === 'failed' ? attestedFailureOf(db, payment, basis) : null;
    return { posting: null, status, event: null, deliveryIds: [], at };
  }
  const id = newId('evt', at.getTime());
  const event = { id, ...paymentEvent(payment, { id, at, environment }) };
  const posting = postingOf(payment);
  const status = posting && attestedStatusOf(db, posting, payment.id, basis);
  return { posting, status, event, deliveryIds: newDeliveryIds(at), at };
}

/** The values of the consequences, $1 to $13. The values of the payment's own row follow. */
export function consequenceValues({ posting, status, event, deliveryIds, at }: Consequences): unknown[] {
  return [
    at,
    posting?.kind ?? null,
    posting?.debitAccount ?? null,
    posting?.creditAccount ?? null,
    posting?.amountMinor ?? null,
    posting?.currency ?? null,
    event?.id,
    event?.type,
    event?.body,
    deliveryIds,
    status?.kind,
    status?.queriedAt,
    status?.attestation,
  ];
}

/** Runs a statement that may record an issued id. Throws `IssuedIdReused` if another payment has the id. */
export async function withOwnIssuedId<Result>(issuedId: string | null, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const isReused = error instanceof DatabaseError && error.constraint === 'payments_one_per_issued_id';
    if (issuedId === null || !isReused) throw error;
    throw new IssuedIdReused(issuedId);
  }
}

/** Runs the statement of a change. Throws `ReceiptReused` if another payment has the receipt. */
export async function withOwnReceipt<Result>(receipt: string | null, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const isReused = error instanceof DatabaseError && error.constraint === 'payments_one_per_receipt';
    if (receipt === null || !isReused) throw error;
    throw new ReceiptReused(receipt);
  }
}

/**
 * `moved` writes the payment's row and returns id, merchant_id, version and request_id; $1 is the time of the change. The statement
 * is one round trip. Every other part reads from `moved`, and `also` must too, so nothing is written if `moved` writes no row. The
 * statement returns a `RecordedChange`, or no row if it wrote nothing.
 */
export function changeStatement(name: string, moved: string, also?: string): Statement {
  const parts = [changeParts(moved), ...(also === undefined ? [] : [also])];
  return statement(name)`WITH ${parts.join(',\n     ')} SELECT ${IS_OWED} FROM moved`;
}

/** What the statement of a change returns: a `RecordedChange`. */
export const IS_OWED = `EXISTS (SELECT FROM owed WHERE state = 'pending') AS is_owed`;

/** The parts of a change statement, for a statement whose earlier parts decide whether anything is written. */
export function changeParts(moved: string): string {
  return `moved AS (${moved}),
     transfer AS (
       INSERT INTO ledger_transfers (kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency, created_at,
         status_kind, status_queried_at, status_attestation)
       SELECT $2::text, moved.id, $3::text, $4::text, $5::bigint, $6::text, $1::timestamptz, $11::text, $12::timestamptz, $13::text
       FROM moved WHERE $2::text IS NOT NULL),
     event AS (
       INSERT INTO events (id, merchant_id, type, payment_id, resource_version, body, created_at, request_id)
       SELECT $7::text, moved.merchant_id, $8::text, moved.id, moved.version, $9::text, $1::timestamptz, moved.request_id
       FROM moved WHERE $7::text IS NOT NULL
       RETURNING id, merchant_id, type),
     owed AS (
       INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, next_attempt_at, created_at, updated_at)
       SELECT ids.id, e.event_id, e.id, e.merchant_id, CASE WHEN e.is_enabled THEN 'pending' ELSE 'withheld' END,
              CASE WHEN e.is_enabled THEN $1::timestamptz END, $1::timestamptz, $1::timestamptz
       FROM (SELECT endpoints.id, endpoints.merchant_id, endpoints.state = 'enabled' AS is_enabled, event.id AS event_id,
                    row_number() OVER (ORDER BY endpoints.id) AS n
             FROM event JOIN endpoints ON endpoints.merchant_id = event.merchant_id AND endpoints.deleted_at IS NULL
               AND (endpoints.event_types IS NULL OR event.type = ANY(endpoints.event_types))) AS e
       JOIN unnest($10::text[]) WITH ORDINALITY AS ids (id, n) USING (n)
       RETURNING state)`;
}
