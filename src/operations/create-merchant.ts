// Makes a merchant with its ledger accounts.
import type { Database } from '../db/database.ts';
import { ensureOperatorAccount } from '../db/ledger.ts';
import { insertMerchant } from '../db/merchant.ts';
import { newId, type MerchantId } from '../domain/ids.ts';
import type { Currency } from '../domain/money.ts';
import { OPERATORS } from '../domain/operator-catalogue.ts';

/** The new merchant's id. It has an available and a held account, and every operator has one in its currency. */
export async function createMerchant(
  db: Database,
  merchant: { readonly name: string; readonly currency: Currency; readonly at: Date },
): Promise<MerchantId> {
  const id = newId('mer', merchant.at.getTime());
  await db.withTransaction(async (tx) => {
    await insertMerchant(tx, { id, name: merchant.name, currency: merchant.currency, createdAt: merchant.at });
    for (const operator of Object.keys(OPERATORS)) await ensureOperatorAccount(tx, operator, merchant.currency);
  });
  return id;
}
