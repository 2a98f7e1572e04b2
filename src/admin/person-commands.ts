// The commands of `npm run staff` that let a person in again, or print what is stored about one. Each returns the text that it prints.
import type { z } from 'zod';
import type { RecoveryId } from '../domain/ids.ts';
import { exportPersonalData } from '../operations/accounts/export-personal-data.ts';
import { approveRecovery, requestRecovery } from '../operations/accounts/recover-account.ts';
import { listRecoveryRequests } from '../db/accounts/recovery.ts';
import type { AttestedDatabase } from './server-database.ts';
import { MAX_SHOWN, shownList } from './shown-list.ts';
import type { approvedRecovery, lostPerson, personOrPhone } from './staff-options.ts';

export async function requestPersonsRecovery(
  { email, reason, staff }: z.infer<typeof lostPerson>,
  { db }: AttestedDatabase,
): Promise<string> {
  const requested = await requestRecovery(db, { email, reason, by: staff, at: new Date() });
  if (!requested) throw new Error(`no account has the address ${email}`);
  const { id, userId, name, merchants } = requested;
  return `person      ${userId}, ${name}
merchants   ${merchants.length === 0 ? 'none' : merchants.join(', ')}
recovery    ${id}
            another member of the staff must approve it within 24 hours, and then gets a token:

  npm run staff -- approve-recovery --recovery ${id} --staff NAME
`;
}

export async function showRecoveries({ db }: AttestedDatabase): Promise<string> {
  const found = await listRecoveryRequests(db, new Date(), MAX_SHOWN + 1);
  const texts = { none: 'no recovery is waiting', more: 'and more: these are the oldest' };
  return shownList(found, texts, ({ id, person, requestedBy, reason, expiresAt }) => {
    const until = `waits until ${expiresAt.toISOString()}`;
    return `${id}  ${person.name} (${person.email}), requested by ${requestedBy}, ${until}: ${reason}`;
  });
}

export async function approvePersonsRecovery(
  { recovery, staff }: z.infer<typeof approvedRecovery>,
  { db, baseUrl }: AttestedDatabase,
): Promise<string> {
  const { request, token } = await approveRecovery(db, { id: recovery as RecoveryId, by: staff, at: new Date() });
  return `person      ${request.person.id}, ${request.person.name} (${request.person.email})
requested   by ${request.requestedBy}: ${request.reason}
token       ${token}
            it works once, for 24 hours, and is not shown again

The holder of the token sets a new password with it. This removes the second factor and ends every session:

  curl -sS ${baseUrl}/v1/console/recovery --data-urlencode 'token=…' --data-urlencode 'new_password=…'
`;
}

/** JSON lines: a row each, with the table and the merchant whose it is. */
export async function exportDataAbout(
  options: z.infer<typeof personOrPhone>,
  { db }: AttestedDatabase,
): Promise<string> {
  const records = await exportPersonalData(db, { ...options, at: new Date() });
  const lines = records.map(({ table, merchantId, row }) => JSON.stringify({ table, merchant_id: merchantId, row }));
  return lines.map((line) => `${line}\n`).join('');
}
