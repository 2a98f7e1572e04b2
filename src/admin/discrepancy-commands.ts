// The commands of `npm run staff` about discrepancies with an operator. Each returns the text that it prints.
import type { Staff } from '../domain/accounts/staff.ts';
import { discrepancyText } from '../domain/payments/discrepancy.ts';
import { findOpenDiscrepancies } from '../db/payments/discrepancy.ts';
import { settleDiscrepancy } from '../operations/payments/settle-discrepancy.ts';
import type { StaffDatabase } from './server-database.ts';

const MAX_SHOWN = 100;

export async function showDiscrepancies({ db }: StaffDatabase): Promise<string> {
  const open = await findOpenDiscrepancies(db, MAX_SHOWN + 1);
  if (open.length === 0) return 'there are no open discrepancies\n';
  const lines = open.slice(0, MAX_SHOWN).map((found) => {
    const { id, subject, merchantId, foundAt } = found;
    return `${id}  ${subject} of ${merchantId}, ${foundAt.toISOString()}: ${discrepancyText(found)}\n`;
  });
  return `${lines.join('')}${open.length > MAX_SHOWN ? 'and more: these are the oldest\n' : ''}`;
}

export async function settleOpenDiscrepancy(
  options: {
    readonly id: string;
    readonly how: string;
    readonly staff: Staff;
  },
  { db }: StaffDatabase,
): Promise<string> {
  const { id, how, staff } = options;
  const settled = await settleDiscrepancy(db, { id, how, by: staff, at: new Date() });
  if (settled === null) throw new Error(`there is no open discrepancy ${id}`);
  return `settled     ${settled.subject} of ${settled.merchantId}: ${discrepancyText(settled)}\n`;
}
