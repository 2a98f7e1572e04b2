// Withdraws everything pending in the name of a recovered account: somebody else may have created it.
import { insertAuditEntry } from './audit.ts';
import { withdrawProposalsBy } from './proposal.ts';
import type { Tx } from '../platform/database.ts';
import { withdrawApprovalsBy } from '../payments/approval.ts';
import type { MerchantId, UserId } from '../../domain/ids.ts';

export type WithdrawOnRecovery = {
  readonly userId: UserId;
  readonly merchants: readonly MerchantId[];
  readonly address: string | null;
  readonly requestId: string;
  readonly at: Date;
};

/**
 * At each of these merchants: approvals of payouts and refunds that are not released, proposals about members and the
 * policy, and invitations that the person sent; an approval of somebody else's invitation. Each has an entry in the
 * merchant's audit log. Released payments and changes in effect stay. Lock merchants, memberships and person first.
 */
export async function withdrawOnRecovery(
  tx: Tx,
  { userId, merchants, at, ...from }: WithdrawOnRecovery,
): Promise<void> {
  for (const merchantId of merchants) {
    const member = { merchantId, userId };
    const withdrawn = [
      ...(await withdrawApprovalsBy(tx, 'payout', member, at)).map((id) => ['payout.approval_withdrawn', id] as const),
      ...(await withdrawApprovalsBy(tx, 'reversal', member, at)).map(
        (id) => ['reversal.approval_withdrawn', id] as const,
      ),
      ...(await withdrawProposalsBy(tx, member, at)),
    ];
    for (const [action, subjectId] of withdrawn) {
      const after = { reason: 'the account was recovered' };
      await insertAuditEntry(tx, { ...from, merchantId, userId, action, outcome: 'done', subjectId, after, at });
    }
  }
}
