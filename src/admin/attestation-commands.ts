// The commands of `npm run staff` about the attestations of rows. Each returns the text that it prints.
import type { Staff } from '../domain/accounts/staff.ts';
import { attestRows, type AttestRows } from '../operations/accounts/attest-rows.ts';
import type { AttestedDatabase } from './server-database.ts';

/** Rows are not as a process of the service wrote them. */
export class AttestationFault extends Error {}

/** Throws an AttestationFault with all rows that are not attested, after it did its work on the others. */
export async function attestAllRows(
  work: AttestRows['work'],
  { staff: by }: { readonly staff: Staff | null },
  { db }: AttestedDatabase,
): Promise<string> {
  const { attested, unattested } = await attestRows(db, { work, by, at: new Date() });
  if (unattested.length > 0) {
    const rows = unattested.map(({ table, key }) => `${table} ${key}`);
    throw new AttestationFault(`these rows are not as the service wrote them, and are ignored:\n${rows.join('\n')}`);
  }
  const done = { verify: 'verified', renew: 'renewed' }[work];
  return `${done.padEnd(12)}${attested} rows\n`;
}
