// Starts the recovery of a person who lost their password or second factor. Only the service's staff may decide on it.
import { recordServiceAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { listMerchantsOf } from '../../db/accounts/member.ts';
import { putRecovery } from '../../db/accounts/recovery.ts';
import { findUserByEmail } from '../../db/accounts/user.ts';
import type { UserId } from '../../domain/ids.ts';
import { RECOVERY_LIFE_MS } from '../../domain/accounts/recovery.ts';
import { newToken } from '../../security/token.ts';

export type StartedRecovery = {
  readonly userId: UserId;
  readonly name: string;
  /** The names of the merchants whose audit logs record it. */
  readonly merchants: readonly string[];
  /** Works once, within 24 hours. It is shown this once. */
  readonly token: string;
};

/** Null when no user has this e-mail. The token of an earlier recovery of the same person is invalid from then on. */
export async function startRecovery(db: Database, email: string, at: Date): Promise<StartedRecovery | null> {
  const { token, sha256 } = newToken();
  return db.withTransaction(async (tx) => {
    const user = await findUserByEmail(tx, email);
    if (!user) return null;
    const expiresAt = new Date(at.getTime() + RECOVERY_LIFE_MS);
    await putRecovery(tx, { tokenSha256: sha256, userId: user.id, createdAt: at, expiresAt });
    const merchants = await listMerchantsOf(tx, user.id);
    const act = { action: 'recovery.started', subjectId: user.id, after: { expires_at: expiresAt }, at };
    for (const { id } of merchants) await recordServiceAct(tx, id, act);
    if (merchants.length === 0) await recordServiceAct(tx, null, act);
    return { userId: user.id, name: user.name, merchants: merchants.map(({ name }) => name), token };
  });
}
