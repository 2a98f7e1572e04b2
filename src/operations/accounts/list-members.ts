// Reads the members of a merchant, with the proposed changes that wait for approval.
import type { Database } from '../../db/platform/database.ts';
import { listAttestedMembers } from '../../db/accounts/member.ts';
import { listOpenProposals } from '../../db/accounts/proposal.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { Member } from '../../domain/accounts/member.ts';
import { agreementOnChange, type Agreement } from '../../domain/accounts/member-change.ts';
import type { MemberChange } from '../../domain/accounts/proposal.ts';

export type WaitingMemberChange = { readonly change: MemberChange; readonly agreement: Agreement };

export type ListedMember = {
  readonly member: Member;
  /** Proposals that have not expired. */
  readonly waiting: readonly WaitingMemberChange[];
};

/** All members in the order in which they joined, at most 200. */
export async function listMembers(db: Database, merchantId: MerchantId, at: Date): Promise<ListedMember[]> {
  return db.withTransaction(async (tx) => {
    const members = await listAttestedMembers(tx, merchantId);
    const changes = await listOpenProposals(tx, 'member_change', merchantId, at);
    return members.map((member) => ({
      member,
      waiting: changes
        .filter((change) => change.member.id === member.userId)
        .map((change) => ({ change, agreement: agreementOnChange(change, members) })),
    }));
  });
}
