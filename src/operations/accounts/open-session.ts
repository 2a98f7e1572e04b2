// Logs a person in: the last of the checks, the session, and the record of either outcome.
import { insertAuditEntry } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/database.ts';
import { listMerchantsOf } from '../../db/accounts/member.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { useTotpCode } from '../../db/accounts/second-factor.ts';
import { deleteSession, insertSession } from '../../db/accounts/session.ts';
import { findUserLocked, type User } from '../../db/accounts/user.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { KeyRing } from '../../security/sealing.ts';
import { SESSION_LIFE_MS } from '../../domain/accounts/session.ts';
import { newToken } from '../../security/token.ts';

export type OpenSession = {
  /** Whom the e-mail names; null: nobody. */
  readonly account: User | null;
  /** The hash that the given password fits; null: it does not fit. */
  readonly verifiedHash: string | null;
  readonly code: string | null;
  /** As the caller named it; null: the one that they joined first. */
  readonly merchantId: string | null;
  /** The session that the caller comes with: it ends. */
  readonly previous: Buffer | null;
  readonly keyRing: KeyRing;
  /** What `beginProof` counted. */
  readonly counted: readonly string[];
  readonly address: string | null;
  readonly requestId: string;
  readonly at: Date;
};

type Checked = { readonly merchantId: MerchantId | null; readonly refusal: string | null };

/**
 * The token of the new session, or null when the person is refused, for whatever reason: it is in the audit log alone.
 * A one-time code opens one session, also of two log-ins at once. Not to be repeated with the same code.
 */
export async function openSession(db: Database, input: OpenSession): Promise<{ readonly token: string } | null> {
  return db.withTransaction(async (tx) => {
    const user = input.account === null ? null : await findUserLocked(tx, input.account.id);
    const { merchantId, refusal } = await check(tx, user, input);
    await insertAuditEntry(tx, {
      merchantId,
      userId: user?.id ?? null,
      apiKeyId: null,
      action: 'session.opened',
      outcome: refusal === null ? 'done' : 'refused',
      subjectId: user?.id ?? null,
      before: null,
      after: refusal === null ? null : { reason: refusal },
      address: input.address,
      requestId: input.requestId,
      at: input.at,
    });
    if (user === null || merchantId === null || refusal !== null) return null;
    const { token, sha256 } = newToken();
    if (input.previous !== null) await deleteSession(tx, input.previous);
    await insertSession(tx, {
      tokenSha256: sha256,
      merchantId,
      userId: user.id,
      createdAt: input.at,
      expiresAt: new Date(input.at.getTime() + SESSION_LIFE_MS),
      secondFactorAt: user.totpSecretSealed === null ? null : input.at,
    });
    await uncountAttempts(tx, input.counted, input.at);
    return { token };
  });
}

async function check(tx: Tx, user: User | null, input: OpenSession): Promise<Checked> {
  if (user === null) return { merchantId: null, refusal: 'no such account' };
  const merchants = await listMerchantsOf(tx, user.id);
  const chosen = input.merchantId === null ? merchants[0] : merchants.find(({ id }) => id === input.merchantId);
  const merchantId = (chosen ?? merchants[0])?.id ?? null;
  // Compared again under the lock: a password that was changed a moment ago opens nothing.
  if (input.verifiedHash !== user.passwordHash) return { merchantId, refusal: 'wrong password' };
  if (!chosen) return { merchantId, refusal: 'not a member' };
  if (user.totpSecretSealed === null) return { merchantId, refusal: null };
  if (input.code === null) return { merchantId, refusal: 'no one-time code' };
  const isVerified = await useTotpCode(tx, user, input.code, input);
  return { merchantId, refusal: isVerified ? null : 'wrong or used one-time code' };
}
