// Writes a new payout, or a change of one, in one statement: its row, the transfer, the event and the deliveries.
import { payoutEvent, type Environment } from '../../domain/event.ts';
import type { StatusBasis } from '../../domain/payments/operator-status.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { payoutPosting, type PayoutChange } from '../../domain/payments/payout-change.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import type { Queryable, Tx } from '../platform/database.ts';
import {
  announceChange,
  ANY_TRIES,
  changeStatement,
  consequencesOfState,
  consequenceValues,
  withOwnReceipt,
  type Condition,
  type Consequences,
  type RecordedChange,
} from './recorded-change.ts';

/** What the payout's entry into its state writes besides its own row. */
export function consequencesOf(
  db: Queryable,
  payout: Payout,
  environment: Environment,
  basis: StatusBasis | null = null,
): Consequences {
  const entered = { id: payout.id, at: payout.updatedAt, posting: payoutPosting(payout), basis };
  return consequencesOfState(db, entered, (event) => payoutEvent(payout, { ...event, environment }));
}

/**
 * An INSERT of a new payout, `queued`, with the values of `newPayoutValues`, if there is a row in `source`. `onConflict`: what happens
 * when a payout with its idempotency key is still pending.
 */
export function insertNewPayout(source: string, onConflict: string): string {
  // Its workflow ends it at the expiry by itself, so it is checked a little later.
  return `INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, amount_minor, currency, reference, phone, operator,
     operator_reference, description, metadata, created_by, api_key_id, approvals_required, expires_at, check_due_at,
     created_at, updated_at, request_attestation, request_id)
   SELECT $14, 'payout', $15, $16, 'queued', $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28,
          $28::timestamptz + interval '1 minute', $29, $29, $30, $31 ${source}
   ${onConflict}
   RETURNING id, merchant_id, version, request_id`;
}

/** $1 to $31 of a statement with `insertNewPayout`. */
export function newPayoutValues(payout: Payout, consequences: Consequences): unknown[] {
  return [
    ...consequenceValues(consequences),
    payout.id,
    payout.merchantId,
    payout.idempotencyKey,
    payout.amountMinor,
    payout.currency,
    payout.reference,
    payout.phone,
    payout.operator,
    payout.operatorReference,
    payout.description,
    JSON.stringify(payout.metadata),
    payout.createdBy,
    payout.apiKeyId,
    payout.approvalsRequired,
    payout.expiresAt,
    payout.createdAt,
    payout.requestAttestation,
    payout.requestId,
  ];
}

const INSERT = changeStatement(
  'payout_insert',
  insertNewPayout(
    '',
    "ON CONFLICT (merchant_id, idempotency_key) WHERE kind = 'payout' AND state IN ('queued', 'released', 'reconciling') DO NOTHING",
  ),
);

/**
 * Inserts a new payout, `queued`, with its money held. False, and nothing is written, when a payout with this key is
 * still pending. Fails when the amount is more than the available balance.
 */
export async function insertPayout(tx: Tx, payout: Payout, environment: Environment): Promise<boolean> {
  const consequences = consequencesOf(tx, payout, environment);
  const [written] = await tx.run<RecordedChange>(INSERT, newPayoutValues(payout, consequences));
  if (!written) return false;
  announceNewPayout(tx, payout, consequences, written);
  return true;
}

/** Passes on that the payout is there. */
export function announceNewPayout(
  db: Queryable,
  payout: Payout,
  { event }: Consequences,
  written: RecordedChange,
): void {
  announceChange(db, written, entryOf('payout', payout, { from: null, eventId: event.id }));
}

// The workflow must act on a decision of people, so it counts as not started until the workflow is signalled.
const RECORD = changeStatement(
  'payout_change_record',
  `UPDATE payments
   SET state = $16, previous_state = state, version = version + 1, updated_at = $1::timestamptz, failure_code = $17, failed_by = $27,
       operator_receipt = coalesce($18, operator_receipt), check_due_at = $19, amount_reversed_minor = $20,
       decided_by = $21, rejection_reason = $22, send_deadline_at = $23, approvals_required = $24,
       release_attestation = $28, request_attestation = $29,
       workflow_started_at = CASE WHEN state = 'queued' AND $16 <> 'expired' THEN NULL
                                  ELSE coalesce(workflow_started_at, $1) END,
       start_due_at = now(), workflow_failures = 0, start_failures = 0
   WHERE id = $14 AND version = $15 AND (accepted_at IS NULL OR NOT $25)
     AND (send_begun_at IS NULL OR NOT $26) AND (send_repeated_at IS NULL OR NOT $30)
   RETURNING id, merchant_id, version, request_id`,
);

/**
 * Compare-and-set on the version that the change was decided on, and on the recorded send and acceptance if the change
 * depends on them: true when all of it is written, false when the payout has changed since and nothing is written. Throws
 * `ReceiptReused`.
 */
export async function recordPayoutChange(
  db: Queryable,
  change: PayoutChange,
  environment: Environment,
  { requiresOneTry, basis = null }: Condition & { readonly basis?: StatusBasis | null } = ANY_TRIES,
): Promise<boolean> {
  const { before, after } = change;
  const consequences = consequencesOf(db, after, environment, basis);
  const values = [
    ...consequenceValues(consequences),
    before.id,
    before.version,
    after.state,
    after.failureCode,
    after.operatorReceipt,
    change.checkDueAt,
    after.amountReversedMinor,
    after.decidedBy,
    after.rejectionReason,
    after.sendDeadlineAt,
    after.approvalsRequired,
    change.requiresNotAccepted,
    change.requiresNotSent,
    change.failedBy,
    after.releaseAttestation,
    after.requestAttestation,
    requiresOneTry,
  ];
  const [written] = await withOwnReceipt(after.operatorReceipt, () => db.run<RecordedChange>(RECORD, values));
  if (!written) return false;
  announceChange(db, written, entryOf('payout', after, { from: before.state, eventId: consequences.event.id }));
  return true;
}
