// The command of `npm run staff` that exports what is stored about a phone number or a person.
import type { Staff } from '../domain/accounts/staff.ts';
import { exportPersonalData } from '../operations/accounts/export-personal-data.ts';
import type { AttestedDatabase } from './server-database.ts';

/** JSON lines: a row each, with the table and the merchant whose it is. */
export async function exportDataAbout(
  options: {
    readonly subject: { readonly phone: string } | { readonly email: string };
    readonly staff: Staff;
  },
  { db }: AttestedDatabase,
): Promise<string> {
  const records = await exportPersonalData(db, { ...options, at: new Date() });
  const lines = records.map(({ table, merchantId, row }) => JSON.stringify({ table, merchant_id: merchantId, row }));
  return lines.map((line) => `${line}\n`).join('');
}
