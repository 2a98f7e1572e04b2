// Creates a merchant with its ledger accounts, and invites its first owners.
import { recordStaffAct } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { ensureOperatorAccount } from '../../db/payments/ledger.ts';
import { insertMerchant } from '../../db/accounts/merchant.ts';
import { insertProposal } from '../../db/accounts/proposal.ts';
import { newId, type MerchantId } from '../../domain/ids.ts';
import { pendingUntilExpiry } from '../../domain/accounts/proposal.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import type { Currency } from '../../domain/money.ts';
import { OPERATOR_IDS } from '../../domain/payments/operator-catalogue.ts';

export type CreateMerchant = {
  readonly name: string;
  readonly currency: Currency;
  /** The owners whom one of the staff invites; absent: none yet. With two, neither moves money alone. */
  readonly invited?: {
    readonly by: StaffMember;
    readonly owners: readonly { readonly email: string; readonly tokenSha256: Buffer }[];
  };
  readonly at: Date;
};

/** The new merchant's id. The merchant has an available and a held account, and each operator one in its currency. */
export async function createMerchant(db: Database, input: CreateMerchant): Promise<MerchantId> {
  const { name, currency, invited, at } = input;
  const id = newId('mer', at.getTime());
  await db.withTransaction(async (tx) => {
    await insertMerchant(tx, { id, name, currency, createdAt: at });
    for (const operator of OPERATOR_IDS) await ensureOperatorAccount(tx, operator, currency);
    if (invited) await inviteOwners(tx, id, invited, at);
  });
  return id;
}

async function inviteOwners(
  tx: Tx,
  merchantId: MerchantId,
  { by, owners }: NonNullable<CreateMerchant['invited']>,
  at: Date,
): Promise<void> {
  for (const { email, tokenSha256 } of owners) {
    const id = newId('inv', at.getTime());
    const roles = ['owner'] as const;
    const invited = { kind: 'invitation', id, merchantId, proposedBy: null, email, roles, tokenSha256 } as const;
    await insertProposal(tx, { ...invited, ...pendingUntilExpiry(at) });
    const act = { action: 'invitation.created', subjectId: id, after: { email, roles }, at };
    await recordStaffAct(tx, merchantId, by, act);
  }
}
