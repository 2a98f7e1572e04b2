// Rows of discrepancies: an operator's status that contradicts the recorded outcome of a payment.
import type { StaffMember } from '../../domain/accounts/staff.ts';
import type { Discrepancy, DiscrepancyKind } from '../../domain/payments/discrepancy.ts';
import type { ReportedMoney } from '../../domain/payments/operator-status.ts';
import type { PaymentId, PaymentKind, PaymentRef } from '../../domain/payments/payment.ts';
import { recordServiceAct, recordStaffAct } from '../accounts/audit.ts';
import { statement, type Queryable, type Tx } from '../platform/database.ts';

export type NewDiscrepancy = Pick<Discrepancy, 'kind' | 'foundAt'> & {
  readonly operatorReceipt?: string | null;
  readonly reported?: ReportedMoney | null;
};

// A settled discrepancy is not stored again unless the operator reports something else.
const INSERT = statement('discrepancy_insert')`
  INSERT INTO discrepancies (merchant_id, payment_id, kind, operator_receipt, reported_amount, reported_currency, found_at)
  SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::timestamptz
  WHERE NOT EXISTS (
    SELECT 1 FROM discrepancies WHERE payment_id = $2 AND kind = $3
      AND (operator_receipt, reported_amount, reported_currency) IS NOT DISTINCT FROM ($4::text, $5::text, $6::text))
  ON CONFLICT DO NOTHING RETURNING 1`;

/**
 * Stores a discrepancy, with an entry in the merchant's audit log. False, and nothing is written, if it is already stored, settled or
 * not, or if another discrepancy of its kind is open: a check finds the new discrepancy again after the other is settled.
 */
export async function insertDiscrepancy(tx: Tx, payment: PaymentRef, found: NewDiscrepancy): Promise<boolean> {
  const { merchantId, id } = payment;
  const { kind, operatorReceipt = null, reported = null, foundAt: at } = found;
  const money = [reported?.amount, reported?.currency];
  const rows = await tx.run(INSERT, [merchantId, id, kind, operatorReceipt, ...money, at]);
  if (rows.length === 0) return false;
  const after = { kind, operator_receipt: operatorReceipt, ...(reported && { reported }) };
  await recordServiceAct(tx, merchantId, { action: `${payment.kind}.discrepancy_found`, subjectId: id, after, at });
  return true;
}

const HAS_OPEN = statement('discrepancy_has_open')`
  SELECT 1 FROM discrepancies
  WHERE payment_id = $1 AND kind = ANY($2) AND settled_at IS NULL`;

/** Whether the payment has a discrepancy of one of these kinds that is not settled. */
export async function hasOpenDiscrepancy(
  db: Queryable,
  id: PaymentId,
  kinds: readonly DiscrepancyKind[],
): Promise<boolean> {
  return (await db.run(HAS_OPEN, [id, kinds])).length > 0;
}

const COLUMNS = `id::text, merchant_id, payment_id AS subject, kind, operator_receipt,
  reported_amount, reported_currency, found_at`;

const FIND_OPEN = statement('discrepancy_find_open')`
  SELECT ${COLUMNS} FROM discrepancies WHERE settled_at IS NULL ORDER BY discrepancies.id LIMIT $1`;

/** The discrepancies of all merchants that are not settled, oldest first, at most `limit`. */
export async function findOpenDiscrepancies(db: Queryable, limit: number): Promise<Discrepancy[]> {
  return db.run<Discrepancy>(FIND_OPEN, [limit]);
}

const SETTLE = statement('discrepancy_settle')`
  UPDATE discrepancies SET settled_at = $2, settled_how = $3 WHERE id = $1 AND settled_at IS NULL
  RETURNING ${COLUMNS}, (SELECT p.kind FROM payments p WHERE p.id = payment_id) AS noun`;

export type SettleDiscrepancy = {
  readonly id: string;
  readonly how: string;
  readonly by: StaffMember;
  readonly at: Date;
};

/** Records how one of the staff settled a discrepancy, with an entry in the audit log; null if no open discrepancy has this id. */
export async function markDiscrepancySettled(
  tx: Tx,
  { id, how, by, at }: SettleDiscrepancy,
): Promise<Discrepancy | null> {
  const [row] = await tx.run<Discrepancy & { noun: PaymentKind }>(SETTLE, [id, at, how]);
  if (!row) return null;
  const { noun, ...settled } = row;
  const action = `${noun}.discrepancy_settled`;
  const after = { kind: settled.kind, settlement: how };
  await recordStaffAct(tx, settled.merchantId, by, { action, subjectId: settled.subject, after, at });
  return settled;
}
