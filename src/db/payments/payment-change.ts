// Writes a change of a payment in one statement: its row and, of a collection or payout, the transfer, the event and the deliveries.
import type { Environment } from '../../domain/event.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import type { StatusBasis } from '../../domain/payments/operator-status.ts';
import type { MoneyOut } from '../../domain/payments/payment.ts';
import type { PaymentChange } from '../../domain/payments/payment-change.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import { statement, type Queryable } from '../platform/database.ts';
import { attestedFailureOf } from './attested-credit.ts';
import type { NewExchange } from './operator-exchange.ts';
import {
  announceChange,
  changeStatement,
  consequencesOf,
  consequenceValues,
  withOwnReceipt,
  type RecordedChange,
} from './recorded-change.ts';

/** What is written with a change, and what must be so when it is written, beside what the change says. */
export type ChangeConditions = {
  /** Nobody tried more than once to send it, or nothing is written. */
  readonly requiresOneTry?: boolean;
  /** Of the verified status on which the change rests; null or absent where no status decided. */
  readonly basis?: StatusBasis | null;
  /** Written with the change of a collection, which has few, so no limit of theirs applies. */
  readonly exchange?: NewExchange | null;
};

// The values of what a merchant requested are $14 to $22, after those of the consequences.
const SET_OF_REQUESTED = `state = $16, previous_state = state, version = version + 1, updated_at = $1::timestamptz, failure_code = $17,
     operator_receipt = coalesce($18, operator_receipt), amount_reversed_minor = $19, check_due_at = $20,
     workflow_failures = 0, start_failures = 0`;
const IF_UNCHANGED = 'id = $14 AND version = $15 AND (send_repeated_at IS NULL OR NOT $22)';

function requestedValues({ before, after, ...change }: PaymentChange<Collection | Payout>, requiresOneTry: boolean) {
  const { state, failureCode, operatorReceipt, amountReversedMinor } = after;
  const decidedOn = [before.id, before.version];
  const written = [state, failureCode, operatorReceipt, amountReversedMinor, change.checkDueAt];
  return [...decidedOn, ...written, change.requiresNotSent, requiresOneTry];
}

// The workflow must act on a decision of people, so it counts as not started until the workflow is signalled.
const setOfMoneyOut = (at: string, state: string, first: number) => {
  const place = (offset: number) => `$${first + offset}`;
  return `failed_by = ${place(1)}, decided_by = ${place(2)}, rejection_reason = ${place(3)}, send_deadline_at = ${place(4)},
     approvals_required = ${place(5)}, release_attestation = ${place(6)}, request_attestation = ${place(7)},
     workflow_started_at = CASE WHEN state = 'queued' AND ${state} <> 'expired' THEN NULL ELSE coalesce(workflow_started_at, ${at}) END,
     start_due_at = now()`;
};

function promptValues({ promptExpiresAt }: Collection, exchange: NewExchange | null = null) {
  const made = [exchange?.kind, exchange?.startedAt, exchange?.durationMs, exchange?.outcome, exchange?.failureCode];
  return [promptExpiresAt, ...made];
}

/** The first is a condition; the others are what `setOfMoneyOut` sets. */
function moneyOutValues({ after, failedBy, requiresNotAccepted }: PaymentChange<MoneyOut>) {
  const { decidedBy, rejectionReason, sendDeadlineAt, approvalsRequired } = after;
  const decision = [decidedBy, rejectionReason, sendDeadlineAt, approvalsRequired];
  return [requiresNotAccepted, failedBy, ...decision, after.releaseAttestation, after.requestAttestation];
}

const RECORD = {
  collection: changeStatement(
    'collection_change_record',
    'collection_id',
    `UPDATE collections
     SET ${SET_OF_REQUESTED}, prompt_expires_at = $23, workflow_started_at = coalesce(workflow_started_at, $1)
     WHERE ${IF_UNCHANGED} AND (send_begun_at IS NULL AND prompt_expires_at IS NULL OR NOT $21)
     RETURNING id, merchant_id, version, request_id`,
    `exchange AS (
       INSERT INTO operator_exchanges (merchant_id, payment_id, kind, started_at, duration_ms, outcome, failure_code)
       SELECT moved.merchant_id, moved.id, $24::text, $25::timestamptz, $26::integer, $27::text, $28::text FROM moved
       WHERE $24::text IS NOT NULL)`,
  ),
  payout: changeStatement(
    'payout_change_record',
    'payout_id',
    `UPDATE payouts SET ${SET_OF_REQUESTED}, ${setOfMoneyOut('$1', '$16', 23)}
     WHERE ${IF_UNCHANGED} AND (send_begun_at IS NULL OR NOT $21) AND (accepted_at IS NULL OR NOT $23)
     RETURNING id, merchant_id, version, request_id`,
  ),
};

const RECORD_REVERSAL = statement(
  'reversal_change_record',
  `UPDATE reversals SET state = $2, failure_code = $3, updated_at = $1, check_due_at = $4, status_kind = $5,
     status_queried_at = $6, status_attestation = $7, workflow_failures = 0, start_failures = 0, ${setOfMoneyOut('$1', '$2', 12)}
   WHERE id = $8 AND state = $9 AND (send_begun_at IS NULL OR NOT $10) AND (send_repeated_at IS NULL OR NOT $11)
     AND (accepted_at IS NULL OR NOT $12) RETURNING 1`,
);

/**
 * Compare-and-set on the version, of a reversal on the state, that the change was decided on, and on the recorded send and acceptance if
 * the change depends on them: true when all of it is written, false when the payment has changed since and nothing is written. Throws
 * `ReceiptReused`.
 */
export async function recordChange(
  db: Queryable,
  change: PaymentChange,
  environment: Environment,
  conditions: ChangeConditions = {},
): Promise<boolean> {
  const { before, after } = change;
  if (after.kind === 'reversal') return recordReversal(db, change as PaymentChange<Reversal>, conditions);
  const { requiresOneTry = false, basis = null, exchange } = conditions;
  const consequences = consequencesOf(db, after, environment, basis);
  const values = [
    ...consequenceValues(consequences),
    ...requestedValues(change as PaymentChange<Collection | Payout>, requiresOneTry),
    ...(after.kind === 'payout' ? moneyOutValues(change as PaymentChange<Payout>) : promptValues(after, exchange)),
  ];
  const write = () => db.run<RecordedChange>(RECORD[after.kind], values);
  const [written] = await withOwnReceipt(after.operatorReceipt, write);
  if (!written) return false;
  announceChange(db, written, entryOf(after, { from: before.state, eventId: consequences.event.id }));
  return true;
}

async function recordReversal(
  db: Queryable,
  change: PaymentChange<Reversal>,
  { requiresOneTry = false, basis = null }: ChangeConditions,
): Promise<boolean> {
  const { before, after, checkDueAt, requiresNotSent } = change;
  const status = after.state === 'failed' ? attestedFailureOf(db, after, basis) : null;
  const written = [after.updatedAt, after.state, after.failureCode, checkDueAt];
  const rests = [status?.kind, status?.queriedAt, status?.attestation];
  const decidedOn = [before.id, before.state, requiresNotSent, requiresOneTry];
  const rows = await db.run(RECORD_REVERSAL, [...written, ...rests, ...decidedOn, ...moneyOutValues(change)]);
  if (rows.length === 0) return false;
  db.announce(entryOf(after, { from: before.state, eventId: null }));
  return true;
}
