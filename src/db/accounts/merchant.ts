// Rows of merchants, each inserted together with its ledger accounts.
import { availableAccount, heldAccount } from '../../domain/payments/ledger.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { Currency } from '../../domain/money.ts';
import { statement, type Tx } from '../database.ts';

const INSERT = statement(
  'merchant_insert',
  `WITH merchant AS (INSERT INTO merchants (id, name, currency, created_at) VALUES ($1, $2, $3, $4))
   INSERT INTO ledger_accounts (id, kind, merchant_id, currency, balance_minor)
   VALUES ($5, 'available', $1, $3, 0), ($6, 'held', $1, $3, 0)`,
);

export async function insertMerchant(
  tx: Tx,
  merchant: { id: MerchantId; name: string; currency: Currency; createdAt: Date },
): Promise<void> {
  await tx.run(INSERT, [
    merchant.id,
    merchant.name,
    merchant.currency,
    merchant.createdAt,
    availableAccount(merchant.id),
    heldAccount(merchant.id),
  ]);
}
