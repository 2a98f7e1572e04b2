// Reads a session for the person whose it is, with the merchants they could open one for.
import type { Database } from '../db/database.ts';
import { listMerchantsOf } from '../db/member.ts';
import { findSession } from '../db/session.ts';
import type { MerchantId } from '../domain/ids.ts';
import { permissionDenied } from '../domain/member.ts';
import { SESSION_IDLE_MS, type Session } from '../domain/session.ts';
import { hashToken } from '../domain/token.ts';

export type OwnSession = Session & {
  readonly merchants: readonly { readonly id: MerchantId; readonly name: string }[];
};

/** Throws `permission_denied` when the session has ended. */
export async function getOwnSession(db: Database, token: string, at: Date): Promise<OwnSession> {
  return db.withTransaction(async (tx) => {
    const sha256 = hashToken(token);
    const session = sha256 && (await findSession(tx, sha256, at, new Date(at.getTime() - SESSION_IDLE_MS)));
    if (!session) throw permissionDenied('the session has ended');
    return { ...session, merchants: await listMerchantsOf(tx, session.person.userId) };
  });
}
