// The commands of `npm run staff` about audit logs. Each returns the text that it prints.
import type { AuditChainName } from '../domain/accounts/audit-chain.ts';
import { exportAudit, verifyAudit, type KeptHead } from '../operations/accounts/verify-audit.ts';
import type { AttestedDatabase, StaffDatabase } from './server-database.ts';

/** The audit log is not as it was recorded. */
export class AuditFault extends Error {}

/** Throws an AuditFault with all that is wrong. */
export async function verifyAuditLogs(
  options: {
    readonly merchant: AuditChainName | null;
    readonly head: readonly KeptHead[];
  },
  { db, attestationKeys }: AttestedDatabase,
): Promise<string> {
  const { merchant: chain, head: kept } = options;
  const verified = await verifyAudit(db, { chain, kept, ring: attestationKeys, at: new Date() });
  const { chains, entries, heads, waiting, faults } = verified;
  if (faults.length > 0) throw new AuditFault(`the audit log is not as it was recorded:\n${faults.join('\n')}`);
  const waits = waiting === 0 ? '' : `; ${waiting} new entries wait for their link`;
  return `verified    ${chains} logs, ${entries} entries, ${heads} signed heads${waits}\n`;
}

/** Writes to standard output, because a log may be larger than memory. */
export async function exportAuditLog(
  options: {
    readonly merchant: AuditChainName;
    readonly after: bigint;
  },
  { db }: StaffDatabase,
): Promise<string> {
  for await (const line of exportAudit(db, options.merchant, options.after)) {
    if (!process.stdout.write(`${line}\n`)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  return '';
}
