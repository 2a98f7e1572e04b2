// Reads a person's own passkeys.
import type { Database } from '../../db/platform/database.ts';
import { listPasskeys } from '../../db/accounts/passkey.ts';
import type { Passkey } from '../../domain/accounts/passkey.ts';
import type { UserId } from '../../domain/ids.ts';

/** In the order of their registration. There are ten at the most. */
export async function listOwnPasskeys(db: Database, userId: UserId): Promise<readonly Passkey[]> {
  return listPasskeys(db, userId);
}
