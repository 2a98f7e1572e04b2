// Verifies a person again within a session: by the second factor, or by the password of a person who has none.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { refusalOfPasskey, type PasskeyAttempt } from '../../db/accounts/passkey-use.ts';
import { factorsOf, hasAny, useTotpCode } from '../../db/accounts/second-factor.ts';
import { renewSession } from '../../db/accounts/session.ts';
import { findUserLocked, type User } from '../../db/accounts/user.ts';
import { type ByPerson, verificationFailed } from '../../domain/accounts/member.ts';
import { verifiedByOf } from '../../domain/accounts/session.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import type { KeyRing } from '../../security/sealing.ts';

export type StepUpSession = PasswordAttempt &
  ByPerson & {
    readonly tokenSha256: Buffer;
    readonly code: string | null;
    /** Instead of a code; null if none was given. */
    readonly passkey: PasskeyAttempt | null;
    readonly keyRing: KeyRing;
  };

/**
 * The session's new token; the old one is invalid. A one-time code or a passkey makes the second factor fresh. A person
 * with a second factor can step up only by it. Throws `permission_denied`; then the session stays unchanged.
 */
export async function stepUpSession(db: Database, input: StepUpSession): Promise<{ readonly token: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    if (!user) throw verificationFailed('no such account');
    const hasFactor = hasAny(factorsOf(user));
    const refusal = hasFactor ? await refusalOfFactor(tx, user, input) : refusalOfPassword(user, input);
    if (refusal !== null) throw verificationFailed(refusal);
    const { token } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt: hasFactor ? at : null });
    await uncountAttempts(tx, input.counted, at);
    const after = { verified_by: verifiedByOf(input, hasFactor) };
    await recordAct(tx, by, { action: 'session.stepped_up', subjectId: user.id, after, at });
    return { token };
  });
}

async function refusalOfFactor(tx: Tx, user: User, input: StepUpSession): Promise<string | null> {
  if (input.passkey !== null) return refusalOfPasskey(tx, user.id, input.passkey, input.at);
  return (await useTotpCode(tx, user, input.code, input)) ? null : 'wrong, used or missing one-time code';
}

function refusalOfPassword(user: User, { verifiedHash }: StepUpSession): string | null {
  return user.passwordHash === verifiedHash ? null : 'wrong password';
}
