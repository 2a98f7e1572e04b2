// Rows of discrepancies: an operator's status that contradicts the recorded outcome of a payment.
import type { Discrepancy, DiscrepancyKind } from '../../domain/payments/discrepancy.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';
import { insertAuditEntry, recordServiceAct } from '../accounts/audit.ts';
import { statement, type Queryable, type Tx } from '../database.ts';

export type NewDiscrepancy = Pick<Discrepancy, 'kind' | 'operatorReceipt' | 'foundAt'>;

const INSERT = statement(
  'discrepancy_insert',
  `INSERT INTO discrepancies (merchant_id, collection_id, payout_id, reversal_id, kind, operator_receipt, found_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING 1`,
);

/** Stores it, with an entry in the merchant's audit log. Repeating it changes nothing. */
export async function insertDiscrepancy(tx: Tx, payment: PaymentRef, found: NewDiscrepancy): Promise<void> {
  const { merchantId, id } = payment;
  const { kind, operatorReceipt, foundAt: at } = found;
  const ids = (['collection', 'payout', 'reversal'] as const).map((each) => (each === payment.kind ? id : null));
  const rows = await tx.run(INSERT, [merchantId, ...ids, kind, operatorReceipt, at]);
  if (rows.length === 0) return;
  await insertAuditEntry(tx, {
    merchantId,
    userId: null,
    apiKeyId: null,
    action: `${payment.kind}.discrepancy_found`,
    outcome: 'done',
    subjectId: id,
    before: null,
    after: { kind, operator_receipt: operatorReceipt },
    address: null,
    requestId: null,
    at,
  });
}

const COLUMNS = `id, merchant_id, coalesce(collection_id, payout_id, reversal_id) AS subject, kind, operator_receipt,
  found_at`;

type DiscrepancyRow = {
  id: string;
  merchant_id: MerchantId;
  subject: Discrepancy['subject'];
  kind: DiscrepancyKind;
  operator_receipt: string | null;
  found_at: Date;
};

const FIND_OPEN = statement(
  'discrepancy_find_open',
  `SELECT ${COLUMNS} FROM discrepancies WHERE settled_at IS NULL ORDER BY id LIMIT $1`,
);

/** Discrepancies that nobody has settled yet, of all merchants, oldest first, at most `limit`. */
export async function findOpenDiscrepancies(db: Queryable, limit: number): Promise<Discrepancy[]> {
  return (await db.run<DiscrepancyRow>(FIND_OPEN, [limit])).map(toDiscrepancy);
}

const SETTLE = statement(
  'discrepancy_settle',
  `UPDATE discrepancies SET settled_at = $2, settled_how = $3 WHERE id = $1 AND settled_at IS NULL
   RETURNING ${COLUMNS}, CASE WHEN collection_id IS NOT NULL THEN 'collection'
                              WHEN payout_id IS NOT NULL THEN 'payout' ELSE 'reversal' END AS noun`,
);

export type SettleDiscrepancy = { readonly id: string; readonly how: string; readonly at: Date };

/** Records how a person settled it, with an entry in the audit log; null when no discrepancy with this id is open. */
export async function markDiscrepancySettled(tx: Tx, { id, how, at }: SettleDiscrepancy): Promise<Discrepancy | null> {
  const [row] = await tx.run<DiscrepancyRow & { noun: string }>(SETTLE, [id, at, how]);
  if (!row) return null;
  const action = `${row.noun}.discrepancy_settled`;
  const after = { kind: row.kind, settlement: how };
  await recordServiceAct(tx, row.merchant_id, { action, subjectId: row.subject, after, at });
  return toDiscrepancy(row);
}

function toDiscrepancy(row: DiscrepancyRow): Discrepancy {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    subject: row.subject,
    kind: row.kind,
    operatorReceipt: row.operator_receipt,
    foundAt: row.found_at,
  };
}
