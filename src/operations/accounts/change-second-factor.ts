// Enrols and removes a person's own second factor by one-time codes, and creates their recovery codes.
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { recordAct } from '../../db/accounts/audit.ts';
import { lockOwnUser, requireNoFactorNeeded } from '../../db/accounts/own-account.ts';
import { deleteRecoveryCodes, insertRecoveryCodes } from '../../db/accounts/recovery-code.ts';
import { factorsOf, hasAny, useTotpCode } from '../../db/accounts/second-factor.ts';
import { deleteSessionsOfUser, renewSession, forgetSecondFactor } from '../../db/accounts/session.ts';
import { findUserLocked, setPendingTotp, confirmTotp, removeTotp, type User } from '../../db/accounts/user.ts';
import type { Database } from '../../db/platform/database.ts';
import {
  hasFreshSecondFactor,
  permissionDenied,
  verificationFailed,
  type ByPerson,
} from '../../domain/accounts/member.ts';
import { stateConflict } from '../../domain/errors.ts';
import type { CountedAttempt, PasswordAttempt } from '../../security/attempt-limit.ts';
import { newRecoveryCode, readRecoveryCode, RECOVERY_CODES } from '../../security/recovery-code.ts';
import { seal, open, type KeyRing } from '../../security/sealing.ts';
import { generateTotpSecret, matchTotpStep } from '../../security/totp.ts';

/** An attempt of a person in a session who gives their password again. */
type OwnAttempt = PasswordAttempt & ByPerson;

/**
 * The secret, which is shown this once. Starting again replaces the secret. The existing second factor counts until the
 * new one is confirmed. Throws `permission_denied`, also if the person has a second factor and did not verify one
 * within five minutes, by a code or a recovery code.
 */
export async function startSecondFactor(
  db: Database,
  input: OwnAttempt & { readonly keyRing: KeyRing },
): Promise<{ readonly secret: string; readonly email: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await lockOwnUser(tx, input);
    // A person with the password alone, or at a session left open, must not replace the factor.
    // Decided by the verified and locked row, not by what the session read earlier.
    requireFreshIfAny(user, input);
    const secret = generateTotpSecret();
    await setPendingTotp(tx, user.id, seal(secret, user.id, input.keyRing));
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'second_factor.started', subjectId: user.id, at });
    return { secret, email: user.email };
  });
}

type WithCode = { readonly tokenSha256: Buffer; readonly code: string; readonly keyRing: KeyRing };

/**
 * The session's new token. From now on the person logs in with a code, and every other session of theirs has ended, at
 * every merchant. The second factor counts as verified in this session, and the code is used up. Throws
 * `permission_denied` for a wrong code, and for a person who has a second factor and did not verify it within five
 * minutes; and `state_conflict` if no enrolment was started.
 */
export async function confirmSecondFactor(
  db: Database,
  input: CountedAttempt & ByPerson & WithCode,
): Promise<{ readonly token: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    const pending = user?.totpPendingSealed ?? null;
    if (!user || pending === null) {
      throw stateConflict('No second factor is waiting for confirmation. Start the enrolment first.');
    }
    // The secret may be old, and known to a person who saw it at that time.
    requireFreshIfAny(user, input);
    const step = matchTotpStep(open(pending, user.id, input.keyRing), input.code, at);
    if (step === null) throw verificationFailed('wrong one-time code');
    await confirmTotp(tx, user.id, step);
    const { token, sha256 } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt: at });
    // Otherwise a session opened with the password alone would now count as one of a person with a second factor.
    await deleteSessionsOfUser(tx, user.id, sha256);
    await uncountAttempts(tx, input.counted, at);
    const change = {
      before: { has_second_factor: by.person.hasSecondFactor },
      after: { has_second_factor: true },
    };
    await recordAct(tx, by, { action: 'second_factor.enrolled', subjectId: user.id, ...change, at });
    return { token };
  });
}

/**
 * The session's new token. No session of the person counts as verified by the factor any more. Throws
 * `permission_denied` for a wrong password or code and for a person without a second factor, and `state_conflict` if a
 * role of theirs, at any merchant, requires one. Then nothing changes.
 */
export async function removeSecondFactor(
  db: Database,
  input: OwnAttempt & WithCode,
): Promise<{ readonly token: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await lockOwnUser(tx, input);
    if (!(await useTotpCode(tx, user, input.code, input))) throw verificationFailed('wrong or used one-time code');
    const isLast = user.passkeyIds.length === 0;
    if (isLast) await requireNoFactorNeeded(tx, user.id);
    await removeTotp(tx, user.id);
    if (isLast) await deleteRecoveryCodes(tx, user.id);
    await forgetSecondFactor(tx, user.id);
    const { token } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt: null });
    await uncountAttempts(tx, input.counted, at);
    const change = { before: { has_second_factor: true }, after: { has_second_factor: !isLast } };
    await recordAct(tx, by, { action: 'second_factor.removed', subjectId: user.id, ...change, at });
    return { token };
  });
}

function requireFreshIfAny(user: User, { by, at }: ByPerson): void {
  if (hasAny(factorsOf(user)) && !hasFreshSecondFactor(by.person, at)) throw permissionDenied('needs a step-up first');
}

/**
 * Ten codes, which are shown this once; each works once. All earlier codes are invalid. Throws `permission_denied` for
 * a wrong password, and `state_conflict` for a person without a second factor, who could not use a code.
 */
export async function createRecoveryCodes(db: Database, input: OwnAttempt): Promise<readonly string[]> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await lockOwnUser(tx, input);
    if (!hasAny(factorsOf(user))) {
      throw stateConflict('You have no second factor. Enrol one before you create recovery codes.');
    }
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await deleteRecoveryCodes(tx, user.id);
    const stored = codes.map(readRecoveryCode).filter((code) => code !== null);
    await insertRecoveryCodes(tx, user.id, stored, at);
    await uncountAttempts(tx, input.counted, at);
    const after = { left: codes.length };
    await recordAct(tx, by, { action: 'recovery_codes.created', subjectId: user.id, after, at });
    return codes;
  });
}
