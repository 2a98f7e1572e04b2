// Verifies the attestations of all rows that say who may do what, or renews them with the current key.
import { recordStaffAct } from '../../db/accounts/audit.ts';
import { ATTESTED_TABLES, renewAttestation, listAttestedKeys, verifyRow } from '../../db/accounts/attested-rows.ts';
import type { Database } from '../../db/platform/database.ts';
import { eachItem } from '../../db/platform/page.ts';
import { renewFailedRefunds, type RenewedRefunds } from '../../db/payments/attested-credit.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import type { RowName } from '../../security/row-attestation.ts';

const PAGE = 500;

export type AttestRows = {
  /** `renew` attests with the ring's first key every row that any of its keys attests, so that the others can go. */
  readonly work: 'verify' | 'renew';
  /** The member of the staff who runs it, for the audit log; null: the embedded start. */
  readonly by: StaffMember | null;
  readonly at: Date;
};

export type AttestedRows = {
  readonly attested: number;
  /** These rows count for nothing, and the service never attests them: restore them from a backup, or remove them. */
  readonly unattested: readonly RowName[];
};

/** One row per transaction, so that no other transaction waits. Safe to repeat and to interrupt. */
export async function attestRows(db: Database, { work, by, at }: AttestRows): Promise<AttestedRows> {
  const counts = { attested: 0 };
  const unattested: RowName[] = [];
  for (const table of ATTESTED_TABLES) {
    for await (const key of eachItem<readonly string[]>(PAGE, (last) => listAttestedKeys(db, table, last, PAGE))) {
      const was = await (work === 'verify'
        ? verifyRow(db, table, key)
        : db.withTransaction((tx) => renewAttestation(tx, table, key)));
      if (was === 'attested') counts.attested += 1;
      else if (was !== 'gone') unattested.push({ table, key: key.join(' ') });
    }
  }
  const refunds = await attestRefunds(db, work);
  counts.attested += refunds.attested;
  unattested.push(...refunds.unattested.map((key) => ({ table: 'payments', key })));
  if (by !== null && work !== 'verify') {
    const after = { ...counts, unattested: unattested.length };
    const act = { action: 'attestations.renewed', subjectId: null, after, at };
    await db.withTransaction((tx) => recordStaffAct(tx, null, by, act));
  }
  return { ...counts, unattested };
}

/** The attestation of a failed refund is verified at each release, so its key must still be in the ring. */
async function attestRefunds(db: Database, work: AttestRows['work']) {
  const counts = { attested: 0, unattested: [] as string[] };
  for (let after: string | null = ''; after !== null;) {
    const page: RenewedRefunds = await renewFailedRefunds(db, { after, limit: PAGE, isRenewed: work !== 'verify' });
    counts.attested += page.attested;
    counts.unattested.push(...page.unattested);
    after = page.last;
  }
  return counts;
}
