// Changes a member's roles or removes the member, and ends what that makes invalid: sessions and outdated proposals.
import type { MerchantId, UserId } from '../../domain/ids.ts';
import type { Role } from '../../domain/accounts/member.ts';
import type { Tx } from '../platform/database.ts';
import { markMemberRemoved, setRoles } from './member.ts';
import { replaceProposals, type Replacement } from './proposal.ts';
import { deleteMemberSessions } from './session.ts';

/**
 * Gives the member these roles from their next request on. Null removes the member and ends their sessions at the
 * merchant. Pending proposals to change the member's roles become outdated, as do those to remove a removed member:
 * they are marked as replaced, each with an entry in the audit log.
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
