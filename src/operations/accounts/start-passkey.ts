// Creates challenges for passkeys: to register one, to step up and to log in with one.
import { recordAct } from '../../db/accounts/audit.ts';
import { requireAttempt } from '../../db/accounts/attempt-counter.ts';
import type { Database } from '../../db/database.ts';
import { createChallenge, listPasskeys } from '../../db/accounts/passkey.ts';
import { findUser } from '../../db/accounts/user.ts';
import { isFreshToEnrol, permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import type { ChallengeUse } from '../../domain/accounts/passkey.ts';
import type { AttemptLimit } from '../../security/attempt-limit.ts';

export type StartedPasskey = {
  readonly challenge: Buffer;
  /** The credentials that the person has registered. */
  readonly credentials: readonly Buffer[];
  readonly email: string;
  readonly name: string;
};

/**
 * A challenge to register another passkey, valid for five minutes and once. Throws `permission_denied` unless the person
 * verified their second factor within five minutes or, without one, their password.
 */
export async function startPasskey(db: Database, by: ActedBy, at: Date): Promise<StartedPasskey> {
  if (!isFreshToEnrol(by.person, at)) throw permissionDenied('needs a step-up first');
  return startFor(db, by, 'register', at);
}

/** A challenge to step up with one of the person's passkeys, valid for five minutes and once. */
export function startPasskeyStepUp(db: Database, by: ActedBy, at: Date): Promise<StartedPasskey> {
  return startFor(db, by, 'step_up', at);
}

function startFor(db: Database, by: ActedBy, purpose: 'register' | 'step_up', at: Date): Promise<StartedPasskey> {
  const { userId } = by.person;
  return db.withTransaction(async (tx) => {
    const user = await findUser(tx, userId);
    if (!user) throw permissionDenied('no such account');
    const credentials = (await listPasskeys(tx, userId)).map(({ credentialId }) => credentialId);
    const challenge = await createChallenge(tx, { purpose, subject: userId }, at);
    const action = purpose === 'register' ? 'passkey.started' : 'passkey.step_up_started';
    await recordAct(tx, by, { action, subjectId: userId, at });
    return { challenge, credentials, email: user.email, name: user.name };
  });
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
