// Creates the ledger accounts of operators that do not exist yet.
import type { Database } from '../../db/platform/database.ts';
import { ensureOperatorAccount } from '../../db/payments/ledger.ts';
import { OPERATORS } from '../../domain/payments/operator-catalogue.ts';

/** Gives every operator an account in each of its currencies. Repeating it changes nothing. */
export async function ensureLedgerAccounts(db: Database): Promise<void> {
  await db.withTransaction(async (tx) => {
    for (const [operator, { markets }] of Object.entries(OPERATORS)) {
      const currencies = new Set(markets.map(({ currency }) => currency));
      for (const currency of [...currencies].sort()) await ensureOperatorAccount(tx, operator, currency);
    }
  });
}
