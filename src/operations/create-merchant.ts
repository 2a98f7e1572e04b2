// Makes a merchant with its ledger accounts, and invites its first owner.
import type { Database } from '../db/database.ts';
import { insertInvitation } from '../db/invitation.ts';
import { ensureOperatorAccount } from '../db/ledger.ts';
import { insertMerchant } from '../db/merchant.ts';
import { newId, type MerchantId } from '../domain/ids.ts';
import { INVITATION_LIFE_MS } from '../domain/member.ts';
import type { Currency } from '../domain/money.ts';
import { OPERATORS } from '../domain/operator-catalogue.ts';

export type CreateMerchant = {
  readonly name: string;
  readonly currency: Currency;
  /** Who is invited to be its first owner; without one it has no people yet. */
  readonly firstOwner?: { readonly email: string; readonly tokenSha256: Buffer };
  readonly at: Date;
};

/** The new merchant's id. It has an available and a held account, and every operator has one in its currency. */
export async function createMerchant(db: Database, input: CreateMerchant): Promise<MerchantId> {
  const { name, currency, firstOwner, at } = input;
  const id = newId('mer', at.getTime());
  await db.withTransaction(async (tx) => {
    await insertMerchant(tx, { id, name, currency, createdAt: at });
    for (const operator of Object.keys(OPERATORS)) await ensureOperatorAccount(tx, operator, currency);
    if (firstOwner) {
      await insertInvitation(tx, {
        id: newId('inv', at.getTime()),
        merchantId: id,
        email: firstOwner.email,
        roles: ['owner'],
        tokenSha256: firstOwner.tokenSha256,
        createdBy: null,
        createdAt: at,
        expiresAt: new Date(at.getTime() + INVITATION_LIFE_MS),
      });
    }
  });
  return id;
}
