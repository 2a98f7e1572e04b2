// Records how a person settled a discrepancy between an operator's status and the recorded outcome.
import type { Database } from '../../db/platform/database.ts';
import { markDiscrepancySettled, type SettleDiscrepancy } from '../../db/payments/discrepancy.ts';
import type { Discrepancy } from '../../domain/payments/discrepancy.ts';

/**
 * Settles the discrepancy and returns it, with an entry in its merchant's audit log; null when no discrepancy with this id
 * is open. The ledger check no longer reports it. Moves no money. Of two calls at the same time, one settles it and the
 * other gets null.
 */
export async function settleDiscrepancy(db: Database, settlement: SettleDiscrepancy): Promise<Discrepancy | null> {
  return db.withTransaction((tx) => markDiscrepancySettled(tx, settlement));
}
