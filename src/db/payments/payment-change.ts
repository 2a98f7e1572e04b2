// Writes a change of a payment in one statement: its row and, of a collection or payout, the transfer, the event and the deliveries.
import type { Environment } from '../../domain/event.ts';
import type { StatusBasis } from '../../domain/payments/operator-status.ts';
import type { PaymentChange } from '../../domain/payments/payment-change.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import { workAfter, type RecordedBy } from '../../domain/work.ts';
import type { Queryable } from '../platform/database.ts';
import { workParts, workValues } from '../work/work-rows.ts';
import type { NewExchange } from './operator-exchange.ts';
import {
  announceChange,
  changeStatement,
  consequencesOf,
  consequenceValues,
  withOwnIssuedId,
  withOwnReceipt,
  type RecordedChange,
} from './change-statement.ts';

/** Further data to write with a change, and further conditions for it. */
export type ChangeConditions = {
  /** Nothing is written if more than one try to send the payment began. */
  readonly requiresOneTry?: boolean;
  /** Kind and time of the verified status that decided the change; null or absent if no status did. */
  readonly basis?: StatusBasis | null;
  /** The exchange to write with the change of a collection. No limit on exchanges applies, because a collection has few. */
  readonly exchange?: NewExchange | null;
  /** The issued id, if the change is that the operator accepted the payment. The first id stays. */
  readonly issuedId?: string | null;
  /** Nothing is written if this is not the current generation of the send: the status is about another one. */
  readonly generation?: number | null;
  /** The payment's workflow by default. */
  readonly recordedBy?: RecordedBy;
};

// $1 to $13 are the values of the consequences. No payment enters a state twice, so the state identifies the version that was read.
const RECORD = changeStatement(
  'payment_change_record',
  `UPDATE payments
   SET state = $16, previous_state = state, version = version + 1, updated_at = $1::timestamptz, failure_code = $17, failed_by = $18,
       operator_receipt = coalesce($19, operator_receipt), amount_reversed_minor = CASE $16 WHEN 'reversed' THEN amount_minor ELSE 0 END,
       status_kind = CASE kind WHEN 'reversal' THEN $11::text END,
       status_queried_at = CASE kind WHEN 'reversal' THEN $12::timestamptz END,
       status_attestation = CASE kind WHEN 'reversal' THEN $13::text END,
       prompt_expires_at = $20, decided_by = $21, rejection_reason = $22, send_deadline_at = coalesce($23, send_deadline_at),
       release_attestation = $24, approvals_required = $25, request_attestation = $26,
       operator_issued_id = coalesce(operator_issued_id, $35)
   WHERE id = $14 AND state = $15 AND (send_begun_at IS NULL AND prompt_expires_at IS NULL OR NOT $27)
     AND (accepted_at IS NULL OR NOT $28) AND (send_repeated_at IS NULL OR NOT $29)
     AND send_generation = coalesce($36, send_generation)
   RETURNING id, kind, merchant_id, operator, version, request_id`,
  `${workParts(37)},
   exchange AS (
     INSERT INTO operator_exchanges (merchant_id, payment_id, kind, started_at, duration_ms, outcome, failure_code)
     SELECT moved.merchant_id, moved.id, $30::text, $31::timestamptz, $32::integer, $33::text, $34::text FROM moved
     WHERE $30::text IS NOT NULL)`,
);

/**
 * Compare-and-set on the state before the change, and on the recorded send and acceptance if the change depends on them. True if
 * everything is written. False if the payment has changed since; then nothing is written. Throws `ReceiptReused` and `IssuedIdReused`.
 */
export async function recordChange(
  db: Queryable,
  change: PaymentChange,
  environment: Environment,
  conditions: ChangeConditions = {},
): Promise<boolean> {
  const {
    requiresOneTry = false,
    basis = null,
    exchange = null,
    issuedId = null,
    generation = null,
    recordedBy = 'workflow',
  } = conditions;
  const { before, after } = change;
  const consequences = consequencesOf(db, after, environment, basis);
  const values = [
    ...consequenceValues(consequences),
    ...[before.id, before.state, ...rowValues(change)],
    ...[change.requiresNotSent, change.requiresNotAccepted, requiresOneTry],
    ...[exchange?.kind, exchange?.startedAt, exchange?.durationMs, exchange?.outcome, exchange?.failureCode],
    issuedId,
    generation,
    ...workValues(workAfter(change, recordedBy)),
  ];
  const write = () => withOwnIssuedId(issuedId, () => db.run<RecordedChange>(RECORD, values));
  const [written] = await withOwnReceipt('operatorReceipt' in after ? after.operatorReceipt : null, write);
  if (!written) return false;
  announceChange(db, written, entryOf(after, { from: before.state, eventId: consequences.event?.id ?? null }));
  return true;
}

/** The values $16 to $26. */
function rowValues({ after, failedBy }: PaymentChange): unknown[] {
  const decided = after.kind === 'collection' ? null : after;
  return [
    after.state,
    after.failureCode,
    decided && failedBy,
    after.kind === 'reversal' ? null : after.operatorReceipt,
    after.kind === 'collection' ? after.promptExpiresAt : null,
    decided?.decidedBy,
    decided?.rejectionReason,
    decided?.sendDeadlineAt,
    decided?.releaseAttestation,
    decided?.approvalsRequired,
    decided?.requestAttestation,
  ];
}
