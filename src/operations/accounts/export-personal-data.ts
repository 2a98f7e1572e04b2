// Exports all stored data about a phone number or a person, and records the export.
import { recordStaffAct } from '../../db/accounts/audit.ts';
import { listDataOfPerson, listDataOfPhone, type PersonalRecord } from '../../db/accounts/personal-data.ts';
import { findUserByEmail } from '../../db/accounts/user.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import type { MerchantId } from '../../domain/ids.ts';
import { accountLimits, personLimits } from '../../security/attempt-limit.ts';

export type ExportPersonalData = {
  readonly subject: { readonly phone: string } | { readonly email: string };
  readonly staff: StaffMember;
  readonly at: Date;
};

// The entry must not store the number once more.
const SHOWN_DIGITS = 3;

/**
 * The rows of all merchants. In the same transaction the audit log of every merchant concerned gets an entry; without
 * such a merchant, the log of the service does.
 */
export async function exportPersonalData(
  db: Database,
  { subject, staff, at }: ExportPersonalData,
): Promise<PersonalRecord[]> {
  return db.withTransaction(async (tx) => {
    const { records, subjectId, about } = await read(tx, subject);
    const concerned = new Set(records.flatMap(({ merchantId }) => (merchantId === null ? [] : [merchantId])));
    const merchants: (MerchantId | null)[] = concerned.size === 0 ? [null] : [...concerned].sort();
    for (const merchantId of merchants) {
      const after = { ...about, records: records.filter((record) => record.merchantId === merchantId).length };
      await recordStaffAct(tx, merchantId, staff, { action: 'personal_data.exported', subjectId, after, at });
    }
    return records;
  });
}

async function read(tx: Tx, subject: ExportPersonalData['subject']) {
  if ('phone' in subject) {
    const about = { phone_ends_with: subject.phone.slice(-SHOWN_DIGITS) };
    return { records: await listDataOfPhone(tx, subject.phone), subjectId: null, about };
  }
  const user = await findUserByEmail(tx, subject.email);
  const limits = [...accountLimits(subject.email), ...(user ? personLimits(user.id) : [])];
  const attemptSubjects = limits.map(({ subject }) => subject);
  const records = await listDataOfPerson(tx, { userId: user?.id ?? null, email: subject.email, attemptSubjects });
  return { records, subjectId: user?.id ?? null, about: {} };
}
