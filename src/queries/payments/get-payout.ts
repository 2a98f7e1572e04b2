// Reads one payout of a merchant.
import type { Database } from '../../db/database.ts';
import { findPayout } from '../../db/payments/payout.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import type { Payout } from '../../domain/payments/payout.ts';

/** Throws `payout_not_found` for an unknown id, and in the same words for another merchant's. */
export async function getPayout(db: Database, merchantId: MerchantId, id: string): Promise<Payout> {
  const payout = isId('pay', id) ? await findPayout(db, merchantId, id) : null;
  if (payout) return payout;
  throw new DomainError('payout_not_found', 'There is no payout with this id. Check the id and the key you use.');
}
