// The command of `npm run staff` that counts the payments of a merchant again.
import type { MerchantId } from '../domain/ids.ts';
import { rebuildTotals } from '../operations/payments/rebuild-totals.ts';
import { withServerDatabase } from './server-database.ts';

export function rebuildMerchantTotals({ merchant }: { readonly merchant: string }): Promise<string> {
  return withServerDatabase(async ({ db }) => {
    await rebuildTotals(db, merchant as MerchantId);
    return 'the payments were counted again\n';
  });
}
