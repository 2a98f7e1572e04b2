// The commands of `npm run staff` that verify what the service wrote: audit logs, and attested rows. Each returns the text that it prints.
import type { z } from 'zod';
import type { StaffMember } from '../domain/accounts/staff.ts';
import { attestRows, type AttestRows } from '../operations/accounts/attest-rows.ts';
import { exportAudit, verifyAudit } from '../operations/accounts/verify-audit.ts';
import type { AttestedDatabase, StaffDatabase } from './server-database.ts';
import type { auditHeads, auditPlace } from './staff-options.ts';

/** An audit log or a row is not as the service wrote it. */
export class RecordFault extends Error {}

/** Throws a RecordFault with all that is wrong. */
export async function verifyAuditLogs(
  { merchant: chain, head: kept }: z.infer<typeof auditHeads>,
  { db, attestationKeys }: AttestedDatabase,
): Promise<string> {
  const verified = await verifyAudit(db, { chain, kept, ring: attestationKeys, at: new Date() });
  const { chains, entries, heads, waiting, faults } = verified;
  if (faults.length > 0) throw new RecordFault(`the audit log is not as it was recorded:\n${faults.join('\n')}`);
  const waits = waiting === 0 ? '' : `; ${waiting} new entries wait for their link`;
  return `verified    ${chains} logs, ${entries} entries, ${heads} signed heads${waits}\n`;
}

/** Writes to standard output, because a log may be larger than memory. */
export async function exportAuditLog(
  { merchant, after }: z.infer<typeof auditPlace>,
  { db }: StaffDatabase,
): Promise<string> {
  for await (const line of exportAudit(db, merchant, after)) {
    if (!process.stdout.write(`${line}\n`)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  return '';
}

/** Throws a RecordFault with all rows that are not attested, after it did its work on the others. */
export async function attestAllRows(
  work: AttestRows['work'],
  { db, by }: AttestedDatabase & { readonly by: StaffMember | null },
): Promise<string> {
  const { attested, unattested } = await attestRows(db, { work, by, at: new Date() });
  if (unattested.length > 0) {
    const rows = unattested.map(({ table, key }) => `${table} ${key}`);
    throw new RecordFault(`these rows are not as the service wrote them, and are ignored:\n${rows.join('\n')}`);
  }
  const done = { verify: 'verified', renew: 'renewed' }[work];
  return `${done.padEnd(12)}${attested} rows\n`;
}
