// The commands of `npm run staff` that let a person in again. Each returns the text that it prints.
import type { RecoveryId } from '../domain/ids.ts';
import type { Staff } from '../domain/accounts/staff.ts';
import { approveRecovery, requestRecovery } from '../operations/accounts/recover-account.ts';
import { listRecoveryRequests } from '../db/accounts/recovery.ts';
import type { AttestedDatabase } from './server-database.ts';

const MAX_SHOWN = 100;

export async function requestPersonsRecovery(
  options: {
    readonly email: string;
    readonly reason: string;
    readonly staff: Staff;
  },
  { db }: AttestedDatabase,
): Promise<string> {
  const { email, reason, staff } = options;
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
  if (found.length === 0) return 'no recovery is waiting\n';
  const lines = found.slice(0, MAX_SHOWN).map(({ id, person, requestedBy, reason, expiresAt }) => {
    const until = `waits until ${expiresAt.toISOString()}`;
    return `${id}  ${person.name} (${person.email}), requested by ${requestedBy}, ${until}: ${reason}\n`;
  });
  return `${lines.join('')}${found.length > MAX_SHOWN ? 'and more: these are the oldest\n' : ''}`;
}

export async function approvePersonsRecovery(
  options: { readonly recovery: string; readonly staff: Staff },
  { db, baseUrl }: AttestedDatabase,
): Promise<string> {
  const { recovery, staff } = options;
  const { request, token } = await approveRecovery(db, { id: recovery as RecoveryId, by: staff, at: new Date() });
  return `person      ${request.person.id}, ${request.person.name} (${request.person.email})
requested   by ${request.requestedBy}: ${request.reason}
token       ${token}
            it works once, for 24 hours, and is not shown again

The holder of the token sets a new password with it. This removes the second factor and ends every session:

  curl -sS ${baseUrl}/v1/console/recovery --data-urlencode 'token=…' --data-urlencode 'new_password=…'
`;
}
