// What the service recorded, read from its database with statements of the checker's own.
import { Client } from 'pg';

type PaymentRow = {
  readonly id: string;
  readonly merchantId: string;
  readonly key: string;
  readonly state: string;
  readonly version: number;
  readonly amount: number;
  readonly currency: string;
  readonly reference: string;
  readonly phone: string;
  readonly operator: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly operatorReference: string;
  readonly operatorReceipt: string | null;
  readonly failureCode: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type CollectionRow = PaymentRow & { readonly sendDeadlineAt: Date; readonly promptExpiresAt: Date | null };
export type PayoutRow = PaymentRow & {
  readonly createdBy: string;
  readonly approvalsRequired: number;
  readonly decidedBy: string | null;
  readonly rejectionReason: string | null;
  readonly expiresAt: Date;
  /** Null until it is released. */
  readonly sendDeadlineAt: Date | null;
};
export type ReversalRow = {
  readonly id: string;
  readonly merchantId: string;
  readonly collectionId: string;
  readonly state: string;
  readonly operatorReference: string;
  readonly failureCode: string | null;
  readonly requestedBy: string;
  readonly sendDeadlineAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};
export type ApprovalRow = { readonly payoutId: string; readonly userId: string; readonly approvedAt: Date };
export type TransferRow = {
  readonly id: string;
  readonly kind: string;
  readonly paymentId: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: number;
};
export type BalanceRow = {
  readonly id: string;
  readonly kind: 'available' | 'held' | 'operator';
  readonly merchantId: string | null;
  readonly balance: number | null;
};
export type EventRow = {
  readonly id: string;
  readonly merchantId: string;
  readonly type: string;
  /** Null for an event that is not about a payment. */
  readonly paymentId: string | null;
  readonly version: number | null;
  readonly body: string;
  readonly createdAt: Date;
};
export type DeliveryRow = {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly state: string;
};
export type AuditRow = {
  readonly userId: string | null;
  readonly action: string;
  readonly outcome: string;
  readonly subjectId: string | null;
  readonly after: Readonly<Record<string, unknown>> | null;
};
export type PolicyRow = { readonly merchantId: string; readonly twoApproversAbove: number | null };
export type DiscrepancyRow = { readonly paymentId: string; readonly kind: string };

export type Records = {
  readonly collections: readonly CollectionRow[];
  readonly payouts: readonly PayoutRow[];
  readonly reversals: readonly ReversalRow[];
  readonly approvals: readonly ApprovalRow[];
  readonly transfers: readonly TransferRow[];
  readonly balances: readonly BalanceRow[];
  readonly events: readonly EventRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly audit: readonly AuditRow[];
  readonly policies: readonly PolicyRow[];
  readonly discrepancies: readonly DiscrepancyRow[];
};

const PAYMENT = `id, merchant_id AS "merchantId", idempotency_key AS key, state, version, amount_minor::float8 AS amount,
  currency, reference, phone, operator, description, metadata, operator_reference AS "operatorReference",
  operator_receipt AS "operatorReceipt", failure_code AS "failureCode", created_at AS "createdAt", updated_at AS "updatedAt"`;

const STATEMENTS: Readonly<Record<keyof Records, string>> = {
  collections: `SELECT ${PAYMENT}, prompt_deadline_at AS "sendDeadlineAt", prompt_expires_at AS "promptExpiresAt"
    FROM collections ORDER BY id`,
  payouts: `SELECT ${PAYMENT}, created_by AS "createdBy", approvals_required AS "approvalsRequired",
    decided_by AS "decidedBy", rejection_reason AS "rejectionReason", expires_at AS "expiresAt",
    send_deadline_at AS "sendDeadlineAt" FROM payouts ORDER BY id`,
  reversals: `SELECT id, merchant_id AS "merchantId", collection_id AS "collectionId", state,
    operator_reference AS "operatorReference", failure_code AS "failureCode", requested_by AS "requestedBy",
    send_deadline_at AS "sendDeadlineAt", created_at AS "createdAt", updated_at AS "updatedAt" FROM reversals ORDER BY id`,
  approvals: `SELECT payout_id AS "payoutId", user_id AS "userId", approved_at AS "approvedAt" FROM payout_approvals
    ORDER BY approved_at, user_id`,
  transfers: `SELECT id::text, kind, coalesce(collection_id, payout_id) AS "paymentId", debit_account_id AS debit,
    credit_account_id AS credit, amount_minor::float8 AS amount FROM ledger_transfers ORDER BY ledger_transfers.id`,
  balances: `SELECT id, kind, merchant_id AS "merchantId", balance_minor::float8 AS balance FROM ledger_accounts`,
  events: `SELECT id, merchant_id AS "merchantId", type, coalesce(collection_id, payout_id) AS "paymentId",
    resource_version AS version, body, created_at AS "createdAt" FROM events ORDER BY id`,
  deliveries: `SELECT id, event_id AS "eventId", endpoint_id AS "endpointId", state FROM deliveries`,
  audit: `SELECT user_id AS "userId", action, outcome, subject_id AS "subjectId", after FROM audit_entries ORDER BY id`,
  policies: `SELECT merchant_id AS "merchantId", two_approvers_above_minor::float8 AS "twoApproversAbove" FROM policies`,
  discrepancies: `SELECT coalesce(collection_id, payout_id, reversal_id) AS "paymentId", kind FROM discrepancies`,
};

/** All records as they were at one moment. */
export async function readRecords(databaseUrl: string): Promise<Records> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  // A connection that breaks rejects the query under way; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const records: Record<string, unknown[]> = {};
    for (const [name, statement] of Object.entries(STATEMENTS)) {
      records[name] = (await client.query<Record<string, unknown>>(statement)).rows;
    }
    await client.query('COMMIT');
    return records as unknown as Records;
  } finally {
    await client.end();
  }
}
