// Completes the registration of a passkey with what the browser created.
import { recordAct } from '../../db/accounts/audit.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import type { Database } from '../../db/platform/database.ts';
import { insertPasskey, listPasskeys, useChallenge } from '../../db/accounts/passkey.ts';
import { factorsOf, hasAny } from '../../db/accounts/second-factor.ts';
import { deleteSessionsOfUser, renewSession } from '../../db/accounts/session.ts';
import { endLossOfSecondFactor, findUserLocked } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { isFreshToEnrol, permissionDenied, type ActedBy, verificationFailed } from '../../domain/accounts/member.ts';
import { MAX_PASSKEYS_PER_PERSON } from '../../domain/accounts/passkey.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import { verifyRegistration, type GivenCredential, type RelyingParty } from '../../security/passkey.ts';

export type RegisterPasskey = PasswordAttempt & {
  readonly tokenSha256: Buffer;
  readonly name: string;
  /** Null: what was given cannot be a credential. */
  readonly given: GivenCredential | null;
  readonly rp: RelyingParty;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The session's new token. The passkey is a second factor from now on, and counts as verified in this session; every
 * other session of the person has ended, at every merchant. Throws
 * `permission_denied` for a wrong password or response, a challenge that is used or over, or without a fresh verification; and
 * `state_conflict` when the passkey is registered already or the person has ten.
 */
export async function registerPasskey(db: Database, input: RegisterPasskey): Promise<{ readonly token: string }> {
  const { by, at, given, rp, name } = input;
  const { userId } = by.person;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, userId);
    // A challenge is a row that no attestation covers: it alone does not show that the password was given for it.
    if (user?.passwordHash !== input.verifiedHash) throw verificationFailed('wrong password');
    const person = { ...by.person, hasSecondFactor: hasAny(factorsOf(user)) };
    if (!isFreshToEnrol(person, at)) throw permissionDenied('needs a step-up first');
    const isOurs =
      given !== null && (await useChallenge(tx, given.challenge, { purpose: 'register', subject: userId }, at));
    const credential = isOurs ? await verifyRegistration(rp, given) : null;
    if (!credential) throw verificationFailed('wrong passkey response');
    const { credentialId, publicKey } = credential;
    if ((await listPasskeys(tx, userId)).length >= MAX_PASSKEYS_PER_PERSON) {
      throw new DomainError('state_conflict', `You have ${MAX_PASSKEYS_PER_PERSON} passkeys. Remove one first.`);
    }
    const id = newId('psk', at.getTime());
    const counter = BigInt(credential.counter);
    if (!(await insertPasskey(tx, { id, userId, name, credentialId, publicKey, counter, createdAt: at }))) {
      throw new DomainError('state_conflict', 'This passkey is registered already.');
    }
    await endLossOfSecondFactor(tx, userId);
    const { token, sha256 } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt: at });
    // A session of the password alone, anybody's, would be whole now that its person has a second factor.
    await deleteSessionsOfUser(tx, userId, sha256);
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'passkey.registered', subjectId: id, after: { name }, at });
    return { token };
  });
}
