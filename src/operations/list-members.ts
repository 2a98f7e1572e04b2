// Lists the people who act for a merchant.
import type { Database } from '../db/database.ts';
import { listMembers as listRows } from '../db/member.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Member } from '../domain/member.ts';

/** All of them, the one who joined first first: there are 200 at the most. */
export function listMembers(db: Database, merchantId: MerchantId): Promise<Member[]> {
  return listRows(db, merchantId);
}
