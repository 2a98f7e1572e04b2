// Reads the names that a guesser of a person's password would try first.
import type { Database } from '../../db/platform/database.ts';
import { listAttestedMerchantsOf } from '../../db/accounts/member.ts';
import type { User } from '../../db/accounts/user.ts';

/** The person's own name and e-mail, and the names of all their merchants. */
export async function listGuessableNames(db: Database, user: Pick<User, 'id' | 'name' | 'email'>): Promise<string[]> {
  const merchants = await listAttestedMerchantsOf(db, user.id);
  return [user.name, user.email, ...merchants.map(({ name }) => name)];
}
