// Logs a person in: makes the final checks, opens the session, and records either outcome in the audit log.
import { insertAuditEntry, type AuditEntry } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { listAttestedMerchantsOf } from '../../db/accounts/member.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { moveFailedLogIns, noteFailedLogIn } from '../../db/accounts/failed-log-in.ts';
import { countRecoveryCodes, hasRecoveryCode, useRecoveryCode } from '../../db/accounts/recovery-code.ts';
import { refusalOfPasskey, type PasskeyAttempt } from '../../db/accounts/passkey-use.ts';
import { factorsOf, hasAny, useTotpCode } from '../../db/accounts/second-factor.ts';
import { deleteLeastUsedSessions, deleteSession, insertSession } from '../../db/accounts/session.ts';
import { findUserLocked, type User } from '../../db/accounts/user.ts';
import { newId, type MerchantId, type UserId } from '../../domain/ids.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import type { KeyRing } from '../../security/sealing.ts';
import { LONGEST_SESSION_MS, MAX_SESSIONS_PER_MEMBER, verifiedByOf } from '../../domain/accounts/session.ts';
import { newToken } from '../../security/token.ts';

export type OpenSession = PasswordAttempt & {
  /** The user with the given e-mail; null if there is none. */
  readonly account: User | null;
  readonly code: string | null;
  /** Instead of the second factor; null if none was given, or the text cannot be one. */
  readonly recoveryCode: string | null;
  /** Instead of a code; null if none was given. */
  readonly passkey: PasskeyAttempt | null;
  /** The chosen merchant; null: the merchant that the person joined first. */
  readonly merchantId: string | null;
  /** The digest of the session token that came with the request, if any. That session ends. */
  readonly previous: Buffer | null;
  readonly keyRing: KeyRing;
  readonly address: string | null;
  /** The user agent of the browser; null: none. */
  readonly userAgent: string | null;
  readonly requestId: string;
  readonly at: Date;
};

type Checked = {
  readonly merchantId: MerchantId | null;
  readonly refusal: string | null;
  readonly hasFactor: boolean;
};

/**
 * The token of the new session, or null if the log-in is refused. Only the audit log has the reason. A one-time code
 * opens one session: of two concurrent log-ins with it, one succeeds. A repeat therefore needs another code. At the
 * limit of sessions at a merchant, the person's least recently used session ends.
 */
export async function openSession(db: Database, input: OpenSession): Promise<{ readonly token: string } | null> {
  return db.withTransaction(async (tx) => {
    const user = input.account === null ? null : await findUserLocked(tx, input.account.id);
    const { merchantId, refusal, hasFactor } = await check(tx, user, input);
    if (user === null || merchantId === null || refusal !== null) {
      if (user) await noteFailedLogIn(tx, user.id, input.at, input.address);
      await record(tx, input, { merchantId, userId: user?.id ?? null, outcome: 'refused', after: { reason: refusal } });
      return null;
    }
    const { token, sha256 } = newToken();
    if (input.previous !== null) await deleteSession(tx, input.previous);
    const others = { kept: MAX_SESSIONS_PER_MEMBER - 1, at: input.at };
    const ended = await deleteLeastUsedSessions(tx, { merchantId, userId: user.id }, others);
    await insertSession(tx, {
      id: newId('ses', input.at.getTime()),
      tokenSha256: sha256,
      merchantId,
      userId: user.id,
      createdAt: input.at,
      expiresAt: new Date(input.at.getTime() + LONGEST_SESSION_MS),
      secondFactorAt: hasFactor ? input.at : null,
      address: input.address,
      userAgent: input.userAgent,
    });
    const failed = await moveFailedLogIns(tx, user.id, sha256);
    const verifiedBy = verifiedByOf(input, hasFactor);
    const after = {
      verified_by: verifiedBy,
      ...(verifiedBy === 'recovery_code' && { recovery_codes_left: await countRecoveryCodes(tx, user.id) }),
      ...(failed > 0 && { failed_before: failed }),
      ...(ended > 0 && { sessions_ended: ended }),
    };
    await record(tx, input, { merchantId, userId: user.id, outcome: 'done', after });
    await uncountAttempts(tx, input.counted, input.at);
    return { token };
  });
}

async function check(tx: Tx, user: User | null, input: OpenSession): Promise<Checked> {
  if (user === null) return { merchantId: null, refusal: 'no such account', hasFactor: false };
  const merchants = await listAttestedMerchantsOf(tx, user.id);
  const chosen = input.merchantId === null ? merchants[0] : merchants.find(({ id }) => id === input.merchantId);
  const merchantId = (chosen ?? merchants[0])?.id ?? null;
  const hasFactor = hasAny(factorsOf(user));
  // Compared again under the lock: the password may have changed after the caller compared it.
  const isRight = input.verifiedHash === user.passwordHash;
  const counts = isRight && chosen !== undefined;
  const refusal = await refusalOfUncounted(tx, user, { ...input, hasFactor, counts });
  if (refusal !== null) return { merchantId, refusal, hasFactor };
  if (!isRight) return { merchantId, refusal: 'wrong password', hasFactor };
  if (!chosen) return { merchantId, refusal: 'not a member', hasFactor };
  return { merchantId, refusal: await refusalOfCode(tx, user, { ...input, hasFactor }), hasFactor };
}

type FactorAttempt = OpenSession & { readonly hasFactor: boolean };

// Attempts with one of these are not counted for the account. Their faults are recorded whether or not the password was
// right: a reader of the audit log could guess at it otherwise. `counts`: all else is right; a code is used up.
async function refusalOfUncounted(
  tx: Tx,
  user: User,
  { passkey, recoveryCode, hasFactor, counts, at }: FactorAttempt & { readonly counts: boolean },
): Promise<string | null> {
  if (passkey !== null) return refusalOfPasskey(tx, user.id, passkey, at);
  if (recoveryCode === null) return null;
  if (!hasFactor) return 'no second factor to recover';
  const isGood = counts
    ? await useRecoveryCode(tx, user.id, recoveryCode, at)
    : await hasRecoveryCode(tx, user.id, recoveryCode);
  return isGood ? null : 'wrong or used recovery code';
}

async function refusalOfCode(tx: Tx, user: User, input: FactorAttempt): Promise<string | null> {
  if (input.passkey !== null || input.recoveryCode !== null || !input.hasFactor) return null;
  if (input.code === null) return 'no one-time code';
  return (await useTotpCode(tx, user, input.code, input)) ? null : 'wrong or used one-time code';
}

type LogInOutcome = Pick<AuditEntry, 'merchantId' | 'outcome'> & {
  readonly userId: UserId | null;
  readonly after: object;
};

function record(tx: Tx, { address, requestId, at }: OpenSession, outcome: LogInOutcome): Promise<void> {
  const act = { action: 'session.opened', subjectId: outcome.userId, address, requestId, at };
  return insertAuditEntry(tx, { ...act, ...outcome });
}
