// The command of `npm run staff` that counts the payments of a merchant again.
import type { MerchantId } from '../domain/ids.ts';
import { rebuildTotals } from '../operations/payments/rebuild-totals.ts';
import type { StaffDatabase } from './server-database.ts';

export async function rebuildMerchantTotals(
  { merchant }: { readonly merchant: string },
  { db }: StaffDatabase,
): Promise<string> {
  await rebuildTotals(db, merchant as MerchantId);
  return 'the totals were counted again\n';
}
