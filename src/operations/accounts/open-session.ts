// Logs a person in: makes the final checks, opens the session, and records either outcome in the audit log.
import { insertAuditEntry, type AuditEntry } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/database.ts';
import { listMerchantsOf } from '../../db/accounts/member.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { moveFailedLogIns, noteFailedLogIn } from '../../db/accounts/failed-log-in.ts';
import { countRecoveryCodes, useRecoveryCode } from '../../db/accounts/recovery-code.ts';
import { useTotpCode } from '../../db/accounts/second-factor.ts';
import { deleteSession, insertSession } from '../../db/accounts/session.ts';
import { findUserLocked, type User } from '../../db/accounts/user.ts';
import { newId, type MerchantId, type UserId } from '../../domain/ids.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import type { KeyRing } from '../../security/sealing.ts';
import { LONGEST_SESSION_MS } from '../../domain/accounts/session.ts';
import { newToken } from '../../security/token.ts';

export type OpenSession = PasswordAttempt & {
  /** The user with the given e-mail; null: there is none. */
  readonly account: User | null;
  readonly code: string | null;
  /** Of a recovery code in place of the second factor; null: none was given, or the text cannot be one. */
  readonly recoverySha256: Buffer | null;
  /** The merchant that the caller chose; null: the one that the person joined first. */
  readonly merchantId: string | null;
  /** The digest of the session token that came with the request, if any: that session ends. */
  readonly previous: Buffer | null;
  readonly keyRing: KeyRing;
  readonly address: string | null;
  /** What the browser calls itself; null: nothing. */
  readonly userAgent: string | null;
  readonly requestId: string;
  readonly at: Date;
};

type Checked = { readonly merchantId: MerchantId | null; readonly refusal: string | null };

/**
 * The token of the new session, or null when the log-in is refused. Only the audit log has the reason. A one-time code
 * opens one session: of two log-ins with it at the same moment, only one succeeds. So a repeat needs another code.
 */
export async function openSession(db: Database, input: OpenSession): Promise<{ readonly token: string } | null> {
  return db.withTransaction(async (tx) => {
    const user = input.account === null ? null : await findUserLocked(tx, input.account.id);
    const { merchantId, refusal } = await check(tx, user, input);
    if (user === null || merchantId === null || refusal !== null) {
      if (user) await noteFailedLogIn(tx, user.id, input.at, input.address);
      await record(tx, input, { merchantId, userId: user?.id ?? null, outcome: 'refused', after: { reason: refusal } });
      return null;
    }
    const { token, sha256 } = newToken();
    if (input.previous !== null) await deleteSession(tx, input.previous);
    await insertSession(tx, {
      id: newId('ses', input.at.getTime()),
      tokenSha256: sha256,
      merchantId,
      userId: user.id,
      createdAt: input.at,
      expiresAt: new Date(input.at.getTime() + LONGEST_SESSION_MS),
      secondFactorAt: user.totpSecretSealed === null ? null : input.at,
      address: input.address,
      userAgent: input.userAgent,
    });
    const failed = await moveFailedLogIns(tx, user.id, sha256);
    const after = { ...(failed > 0 && { failed_before: failed }), ...(await recoveryCodeUse(tx, user, input)) };
    await record(tx, input, {
      merchantId,
      userId: user.id,
      outcome: 'done',
      after: Object.keys(after).length === 0 ? null : after,
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
  // Compared again under the lock: the password may have been changed since the caller compared it.
  if (input.verifiedHash !== user.passwordHash) return { merchantId, refusal: 'wrong password' };
  if (!chosen) return { merchantId, refusal: 'not a member' };
  // Such an attempt is not counted for the account, so it must not tell whether the password was right.
  if (input.recoverySha256 !== null) {
    if (user.totpSecretSealed === null) return { merchantId, refusal: 'no second factor to recover' };
    const isUsed = await useRecoveryCode(tx, user.id, input.recoverySha256, input.at);
    return { merchantId, refusal: isUsed ? null : 'wrong or used recovery code' };
  }
  if (user.totpSecretSealed === null) return { merchantId, refusal: null };
  if (input.code === null) return { merchantId, refusal: 'no one-time code' };
  const isVerified = await useTotpCode(tx, user, input.code, input);
  return { merchantId, refusal: isVerified ? null : 'wrong or used one-time code' };
}

/** What the audit log says of a recovery code that opened the session. */
async function recoveryCodeUse(tx: Tx, user: User, { recoverySha256 }: OpenSession): Promise<object> {
  if (recoverySha256 === null || user.totpSecretSealed === null) return {};
  return { by_recovery_code: true, recovery_codes_left: await countRecoveryCodes(tx, user.id) };
}

type LogInOutcome = Pick<AuditEntry, 'merchantId' | 'outcome'> & {
  readonly userId: UserId | null;
  readonly after: object | null;
};

function record(tx: Tx, { address, requestId, at }: OpenSession, outcome: LogInOutcome): Promise<void> {
  const act = { action: 'session.opened', subjectId: outcome.userId, address, requestId, at };
  return insertAuditEntry(tx, { ...act, ...outcome });
}
