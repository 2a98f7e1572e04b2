// Adds a person as a member without an invitation, for the people of the demonstration merchant.
import type { Database } from '../../db/platform/database.ts';
import { putMember } from '../../db/accounts/member.ts';
import { findUserByEmail, insertUser, type NewUser } from '../../db/accounts/user.ts';
import { newId, type MerchantId, type UserId } from '../../domain/ids.ts';
import type { Role } from '../../domain/accounts/member.ts';
import { seal, type KeyRing } from '../../security/sealing.ts';

export type EnrolMember = Pick<NewUser, 'email' | 'name' | 'passwordHash'> & {
  readonly merchantId: MerchantId;
  readonly roles: readonly Role[];
  /** Base32; null: no second factor. */
  readonly totpSecret: string | null;
  readonly keyRing: KeyRing;
  readonly at: Date;
};

/** The person's id. A user with this e-mail joins with their existing name, password and second factor. */
export async function enrolMember(db: Database, input: EnrolMember): Promise<UserId> {
  const { merchantId, email, name, passwordHash, roles, totpSecret, at } = input;
  return db.withTransaction(async (tx) => {
    const id = newId('usr', at.getTime());
    const totpSecretSealed = totpSecret === null ? null : seal(totpSecret, id, input.keyRing);
    const isNew = await insertUser(tx, { id, email, name, passwordHash, totpSecretSealed, createdAt: at });
    const userId = isNew ? id : (await findUserByEmail(tx, email))?.id;
    if (userId === undefined) throw new Error('a user was neither created nor found');
    await putMember(tx, { merchantId, userId, roles, createdAt: at });
    return userId;
  });
}
