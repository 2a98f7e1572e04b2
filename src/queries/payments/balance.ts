// Reads the balance of a merchant.
import type { Database } from '../../db/platform/database.ts';
import { findBalance, type Balance } from '../../db/payments/ledger.ts';
import type { MerchantId } from '../../domain/ids.ts';

/** Available and held as of one instant. Every merchant has both accounts from its creation on. */
export async function getBalance(db: Database, merchantId: MerchantId): Promise<Balance> {
  const balance = await findBalance(db, merchantId);
  if (!balance) throw new Error(`merchant ${merchantId} has no ledger accounts`);
  return balance;
}
