// Rows of discrepancies: what an operator says of money whose end is recorded otherwise.
import type { Contradiction } from '../domain/sent-money.ts';
import { insertAuditEntry } from './audit.ts';
import { statement, type Queryable, type Tx } from './database.ts';
import type { LedgerFault } from './ledger.ts';
import type { SentMoney } from './sent-money.ts';

/** `refunded_twice`: the provider gave a collection back by itself, and the refund that was asked for was paid too. */
export type DiscrepancyKind = Contradiction | 'refunded_twice';

export type NewDiscrepancy = SentMoney & {
  readonly kind: DiscrepancyKind;
  readonly operatorReceipt: string | null;
  readonly foundAt: Date;
};

const INSERT = statement(
  'discrepancy_insert',
  `INSERT INTO discrepancies (merchant_id, payout_id, reversal_id, kind, operator_receipt, found_at)
   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING 1`,
);

/** Keeps it, with an entry of the audit log for the merchant to see. Repeating it changes nothing. */
export async function insertDiscrepancy(tx: Tx, found: NewDiscrepancy): Promise<void> {
  const { merchantId, table, id, kind, operatorReceipt, foundAt: at } = found;
  const [payoutId, reversalId] = table === 'payouts' ? [id, null] : [null, id];
  const rows = await tx.run(INSERT, [merchantId, payoutId, reversalId, kind, operatorReceipt, at]);
  if (rows.length === 0) return;
  await insertAuditEntry(tx, {
    merchantId,
    userId: null,
    apiKeyId: null,
    action: `${table === 'payouts' ? 'payout' : 'reversal'}.discrepancy_found`,
    outcome: 'done',
    subjectId: id,
    before: null,
    after: { kind, operator_receipt: operatorReceipt },
    address: null,
    requestId: null,
    at,
  });
}

const FIND_OPEN = statement(
  'discrepancy_find_open',
  `SELECT coalesce(payout_id, reversal_id) AS subject, kind, operator_receipt FROM discrepancies
   WHERE settled_at IS NULL ORDER BY id LIMIT 100`,
);

const FAULTS: Readonly<Record<DiscrepancyKind, string>> = {
  paid_after_failed: 'it failed and its money was given back, and the operator says that it paid it',
  declined_after_paid: 'its money was booked as paid, and the operator says that it did not pay it',
  refunded_twice: 'the provider gave the collection back by itself, and this refund was paid too',
};

/** Those that nobody settled yet, the oldest first. */
export async function findOpenDiscrepancies(db: Queryable): Promise<LedgerFault[]> {
  const rows = await db.run<{ subject: string; kind: DiscrepancyKind; operator_receipt: string | null }>(FIND_OPEN, []);
  return rows.map(({ subject, kind, operator_receipt: receipt }) => ({
    subject,
    fault: receipt === null ? FAULTS[kind] : `${FAULTS[kind]} (its receipt: ${receipt})`,
  }));
}
