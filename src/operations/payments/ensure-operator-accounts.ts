// Makes the ledger accounts of operators that are not there yet.
import type { Database } from '../../db/database.ts';
import { ensureOperatorAccount } from '../../db/payments/ledger.ts';
import { OPERATORS } from '../../domain/payments/operator-catalogue.ts';

/**
 * Every operator has an account in each currency that it serves, also where the merchants are older than the operator.
 * Repeating it changes nothing.
 */
export async function ensureOperatorAccounts(db: Database): Promise<void> {
  await db.withTransaction(async (tx) => {
    for (const [operator, { markets }] of Object.entries(OPERATORS)) {
      const currencies = new Set(markets.map(({ currency }) => currency));
      for (const currency of [...currencies].sort()) await ensureOperatorAccount(tx, operator, currency);
    }
  });
}
