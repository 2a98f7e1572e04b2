// The commands of `npm run staff` about a person of a merchant: to let them in again, and to print what is stored about one. Each
// returns the text that it prints.
import type { z } from 'zod';
import { findUserByEmail } from '../db/accounts/user.ts';
import { listMerchantsOf } from '../db/accounts/member.ts';
import { exportPersonalData } from '../operations/accounts/export-personal-data.ts';
import { proposeAsStaff } from '../operations/accounts/staff-proposals.ts';
import type { ActingDatabase, By } from './server-database.ts';
import { proposedText } from './staff-texts.ts';
import type { lostPerson, personOrPhone } from './staff-options.ts';

export async function proposeRecovery(
  { email, reason }: z.infer<typeof lostPerson>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  const user = await findUserByEmail(db, email);
  if (!user) throw new Error(`no account has the address ${email}`);
  const payload = { user_id: user.id, email: user.email, name: user.name, reason };
  const made = await proposeAsStaff(db, { proposed: { kind: 'recovery', payload }, by, at: new Date() });
  const merchants = (await listMerchantsOf(db, user.id)).map(({ name }) => name);
  return `person      ${user.id}, ${user.name}
merchants   ${merchants.length === 0 ? 'none' : merchants.join(', ')}
${proposedText(made)}`;
}

/** JSON lines: a row each, with the table and the merchant whose it is. */
export async function exportDataAbout(
  { subject }: z.infer<typeof personOrPhone>,
  { db, by: staff }: By<ActingDatabase>,
): Promise<string> {
  const records = await exportPersonalData(db, { subject, staff, at: new Date() });
  const lines = records.map(({ table, merchantId, row }) => JSON.stringify({ table, merchant_id: merchantId, row }));
  return lines.map((line) => `${line}\n`).join('');
}
