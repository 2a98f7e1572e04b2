// Lists the invitations that wait for an answer.
import type { Database } from '../db/database.ts';
import { listOpenInvitations } from '../db/invitation.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Invitation } from '../domain/member.ts';

/** All of them, newest first: there are 100 at the most. */
export function listInvitations(db: Database, merchantId: MerchantId, at: Date): Promise<Invitation[]> {
  return listOpenInvitations(db, merchantId, at);
}
