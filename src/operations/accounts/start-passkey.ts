// Creates challenges for passkeys: to register one, to step up and to log in with one.
import { recordAct } from '../../db/accounts/audit.ts';
import { requireAttempt, uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { createChallenge, listPasskeys } from '../../db/accounts/passkey.ts';
import { findUser, type User } from '../../db/accounts/user.ts';
import { isFreshToEnrol, permissionDenied, type ActedBy, verificationFailed } from '../../domain/accounts/member.ts';
import type { ChallengeUse } from '../../domain/accounts/passkey.ts';
import type { AttemptLimit, PasswordAttempt } from '../../security/attempt-limit.ts';

export type StartedPasskey = {
  readonly challenge: Buffer;
  /** The credentials that the person has registered. */
  readonly credentials: readonly Buffer[];
  readonly email: string;
  readonly name: string;
};

type StartPasskey = PasswordAttempt & { readonly by: ActedBy; readonly at: Date };

/**
 * A challenge to register another passkey, valid for five minutes and once. Throws `permission_denied` for a wrong password, and
 * unless the person verified their second factor within five minutes or, without one, their password.
 */
export function startPasskey(db: Database, input: StartPasskey): Promise<StartedPasskey> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUser(tx, by.person.userId);
    // Whoever has a session of this moment alone must not add a factor of their own to it.
    if (user?.passwordHash !== input.verifiedHash) throw verificationFailed('wrong password');
    if (!isFreshToEnrol(by.person, at)) throw permissionDenied('needs a step-up first');
    const started = await startFor(tx, user, 'register', at);
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'passkey.started', subjectId: user.id, at });
    return started;
  });
}

/** A challenge to step up with one of the person's passkeys, valid for five minutes and once. */
export function startPasskeyStepUp(db: Database, by: ActedBy, at: Date): Promise<StartedPasskey> {
  return db.withTransaction(async (tx) => {
    const user = await findUser(tx, by.person.userId);
    if (!user) throw permissionDenied('no such account');
    const started = await startFor(tx, user, 'step_up', at);
    await recordAct(tx, by, { action: 'passkey.step_up_started', subjectId: user.id, at });
    return started;
  });
}

async function startFor(tx: Tx, user: User, purpose: 'register' | 'step_up', at: Date): Promise<StartedPasskey> {
  const credentials = (await listPasskeys(tx, user.id)).map(({ credentialId }) => credentialId);
  const challenge = await createChallenge(tx, { purpose, subject: user.id }, at);
  return { challenge, credentials, email: user.email, name: user.name };
}

/**
 * A challenge to log in with a passkey, for this e-mail alone, known or not: nothing tells which. Throws `rate_limited`
 * for an address that asked for too many.
 */
export async function startPasskeyLogIn(
  db: Database,
  subject: ChallengeUse['subject'],
  limit: AttemptLimit,
  at: Date,
): Promise<Buffer> {
  return db.withTransaction(async (tx) => {
    await requireAttempt(tx, limit, 'Too many challenges for this address. Wait, then try again.', at);
    return createChallenge(tx, { purpose: 'log_in', subject }, at);
  });
}
