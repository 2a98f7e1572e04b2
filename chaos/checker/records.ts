// The records of the service, read from its database with separate statements.
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
  readonly payeeName: string | null;
  readonly createdBy: string;
  readonly approvalsRequired: number;
  readonly decidedBy: string | null;
  readonly rejectionReason: string | null;
  readonly expiresAt: Date;
  /** Null until it is released. */
  readonly sendDeadlineAt: Date | null;
};
/** Its amount is that of its collection. */
export type ReversalRow = Pick<
  PayoutRow,
  | (
      | 'id'
      | 'merchantId'
      | 'state'
      | 'operator'
      | 'operatorReference'
      | 'failureCode'
      | 'amount'
      | 'createdAt'
      | 'updatedAt'
    )
  | ('createdBy' | 'approvalsRequired' | 'decidedBy' | 'sendDeadlineAt')
> & { readonly collectionId: string };
export type ApprovalRow = { readonly paymentId: string; readonly userId: string; readonly approvedAt: Date };
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
  /** Null for an event without a payment. */
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
  collections: `SELECT ${PAYMENT}, send_deadline_at AS "sendDeadlineAt", prompt_expires_at AS "promptExpiresAt"
    FROM payments WHERE kind = 'collection' ORDER BY id`,
  payouts: `SELECT ${PAYMENT}, payee_name AS "payeeName", created_by AS "createdBy", approvals_required AS "approvalsRequired",
    decided_by AS "decidedBy", rejection_reason AS "rejectionReason", expires_at AS "expiresAt",
    send_deadline_at AS "sendDeadlineAt" FROM payments WHERE kind = 'payout' ORDER BY id`,
  reversals: `SELECT r.id, r.merchant_id AS "merchantId", r.collection_id AS "collectionId", r.state,
    r.operator, r.operator_reference AS "operatorReference", r.failure_code AS "failureCode", r.created_by AS "createdBy",
    r.approvals_required AS "approvalsRequired", r.decided_by AS "decidedBy", c.amount_minor::float8 AS amount,
    r.send_deadline_at AS "sendDeadlineAt", r.created_at AS "createdAt", r.updated_at AS "updatedAt"
    FROM payments r JOIN payments c ON c.id = r.collection_id WHERE r.kind = 'reversal' ORDER BY r.id`,
  approvals: `SELECT payment_id AS "paymentId", user_id AS "userId", approved_at AS "approvedAt" FROM approvals ORDER BY 3, 2`,
  transfers: `SELECT id::text, kind, payment_id AS "paymentId", debit_account_id AS debit,
    credit_account_id AS credit, amount_minor::float8 AS amount FROM ledger_transfers ORDER BY ledger_transfers.id`,
  balances: `SELECT id, kind, merchant_id AS "merchantId", balance_minor::float8 AS balance FROM ledger_accounts`,
  events: `SELECT id, merchant_id AS "merchantId", type, payment_id AS "paymentId",
    resource_version AS version, body, created_at AS "createdAt" FROM events ORDER BY id`,
  deliveries: `SELECT id, event_id AS "eventId", endpoint_id AS "endpointId", state FROM deliveries`,
  audit: `SELECT user_id AS "userId", action, outcome, subject_id AS "subjectId", after FROM audit_entries ORDER BY id`,
  policies: `SELECT merchant_id AS "merchantId", two_approvers_above_minor::float8 AS "twoApproversAbove" FROM policies`,
  discrepancies: `SELECT payment_id AS "paymentId", kind FROM discrepancies`,
};

/** All records as of one moment. */
export async function readRecords(databaseUrl: string): Promise<Records> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  // A broken connection rejects its query; without a listener it would end the process.
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
