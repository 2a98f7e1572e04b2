// Records that an operator says of a payment what contradicts how it ended.
import { findCollection } from '../../db/payments/collection.ts';
import type { Database, Tx } from '../../db/database.ts';
import { insertDiscrepancy, type EndedPayment } from '../../db/payments/discrepancy.ts';
import { findPayout } from '../../db/payments/payout.ts';
import { findReversal } from '../../db/payments/reversal.ts';
import type { OperatorStatus } from '../../domain/payments/operator-status.ts';
import { contradictionIn, type Contradiction } from '../../domain/payments/sent-money.ts';

export type { EndedPayment };

export type RecordDiscrepancy = { readonly ended: EndedPayment; readonly status: OperatorStatus; readonly at: Date };

/**
 * What the word contradicts, or null when it contradicts nothing that is recorded now. One transaction keeps it, once
 * however often it is heard, and moves no money: what follows is for a person to decide.
 */
export async function recordDiscrepancy(
  db: Database,
  { ended, status, at }: RecordDiscrepancy,
): Promise<Contradiction | null> {
  return db.withTransaction(async (tx) => {
    const row = await findEnded(tx, ended);
    const kind = row && contradictionIn(row.state, status);
    if (kind === null) return null;
    const operatorReceipt = 'operatorReceipt' in status ? status.operatorReceipt : null;
    await insertDiscrepancy(tx, { ...ended, kind, operatorReceipt, foundAt: at });
    return kind;
  });
}

async function findEnded(tx: Tx, { table, id, merchantId }: EndedPayment): Promise<{ readonly state: string } | null> {
  switch (table) {
    case 'collections':
      return findCollection(tx, merchantId, id);
    case 'payouts':
      return findPayout(tx, merchantId, id);
    case 'reversals':
      return findReversal(tx, merchantId, id);
  }
}
