// Notes how a person settled what an operator says otherwise of a payment.
import type { Database } from '../../db/database.ts';
import { putSettlement, type Settlement } from '../../db/payments/discrepancy.ts';
import type { Discrepancy } from '../../domain/payments/discrepancy.ts';

/**
 * The discrepancy, from now on no fault of the ledger, with an entry in its merchant's audit log; null when none with this
 * id is open. Moves no money. Settled once: of two at the same moment, one settles it.
 */
export async function settleDiscrepancy(db: Database, settlement: Settlement): Promise<Discrepancy | null> {
  return db.withTransaction((tx) => putSettlement(tx, settlement));
}
