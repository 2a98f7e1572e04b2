// Completes the enrolment of a second factor with a first code.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { factorsOf, hasAny } from '../../db/accounts/second-factor.ts';
import { deleteSessionsOfUser, renewSession } from '../../db/accounts/session.ts';
import { confirmTotp, findUserLocked } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import {
  hasFreshSecondFactor,
  permissionDenied,
  type ActedBy,
  verificationFailed,
} from '../../domain/accounts/member.ts';
import type { CountedAttempt } from '../../security/attempt-limit.ts';
import { open, type KeyRing } from '../../security/sealing.ts';
import { matchTotpStep } from '../../security/totp.ts';

export type ConfirmSecondFactor = CountedAttempt & {
  readonly tokenSha256: Buffer;
  readonly code: string;
  readonly keyRing: KeyRing;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The session's new token. From now on the person logs in with a code, and every other session of theirs has ended, at
 * every merchant. The second factor counts as verified in this session, and the code is used up. Throws `permission_denied`
 * for a wrong code, and for a person who has a second factor and did not verify it within five minutes; and `state_conflict`
 * when no enrolment was started.
 */
export async function confirmSecondFactor(
  db: Database,
  input: ConfirmSecondFactor,
): Promise<{ readonly token: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    const pending = user?.totpPendingSealed ?? null;
    if (!user || pending === null) {
      throw new DomainError(
        'state_conflict',
        'No second factor is waiting for confirmation. Start the enrolment first.',
      );
    }
    // The secret may be of long ago, and known to whoever saw it then.
    const hasFactor = hasAny(factorsOf(user));
    if (hasFactor && !hasFreshSecondFactor(by.person, at)) throw permissionDenied('needs a step-up first');
    const step = matchTotpStep(open(pending, user.id, input.keyRing), input.code, at);
    if (step === null) throw verificationFailed('wrong one-time code');
    await confirmTotp(tx, user.id, step);
    const { token, sha256 } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt: at });
    // A session of the password alone, anybody's, would be whole now that its person has a second factor.
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
