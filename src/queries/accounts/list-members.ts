// Lists the people who act for a merchant, with the changes of them that wait.
import type { Database } from '../../db/database.ts';
import { listMembers as listRows } from '../../db/accounts/member.ts';
import { listPendingMemberChanges } from '../../db/accounts/member-change.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { Member } from '../../domain/accounts/member.ts';
import { agreementOnChange, type Agreement, type MemberChange } from '../../domain/accounts/member-change.ts';

export type WaitingMemberChange = { readonly change: MemberChange; readonly agreement: Agreement };

export type ListedMember = {
  readonly member: Member;
  /** Proposals whose time is not over. */
  readonly waiting: readonly WaitingMemberChange[];
};

/** All of them, the one who joined first first: there are 200 at the most. */
export async function listMembers(db: Database, merchantId: MerchantId, at: Date): Promise<ListedMember[]> {
  return db.withTransaction(async (tx) => {
    const members = await listRows(tx, merchantId);
    const changes = await listPendingMemberChanges(tx, merchantId, at);
    return members.map((member) => ({
      member,
      waiting: changes
        .filter((change) => change.member.id === member.userId)
        .map((change) => ({ change, agreement: agreementOnChange(change, members) })),
    }));
  });
}
