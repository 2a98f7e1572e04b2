// The change of a member's roles, or their removal, with what it ends: sessions, and proposals that are outdated by it.
import type { MerchantId, UserId } from '../../domain/ids.ts';
import type { Role } from '../../domain/accounts/member.ts';
import type { Tx } from '../platform/database.ts';
import { markMemberRemoved, setRoles } from './member.ts';
import { replaceProposals, type Replacement } from './proposal.ts';
import { deleteMemberSessions } from './session.ts';

/**
 * Gives the member these roles from their next request on. With null they are removed from the merchant, and their
 * sessions there end. Pending proposals to change the member's roles are outdated then, and those to remove them too if
 * they are removed: they are marked as replaced, each with an entry in the audit log.
 */
export async function applyRoles(
  tx: Tx,
  { merchantId, userId }: { readonly merchantId: MerchantId; readonly userId: UserId },
  roles: readonly Role[] | null,
  replacement: Replacement,
): Promise<void> {
  if (roles === null) {
    await markMemberRemoved(tx, merchantId, userId, replacement.at);
    await deleteMemberSessions(tx, { merchantId, userId }, null);
  } else {
    await setRoles(tx, merchantId, userId, roles);
  }
  await replaceProposals(tx, { merchantId, userId, proposer: null, withRemovals: roles === null }, replacement);
}
