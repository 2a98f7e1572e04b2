// Registers, names and removes a person's own passkeys, and creates the challenges that passkeys sign.
import { requireAttempt, uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { recordAct } from '../../db/accounts/audit.ts';
import { lockOwnUser, requireNoFactorNeeded } from '../../db/accounts/own-account.ts';
import {
  createChallenge,
  listPasskeys,
  insertPasskey,
  useChallenge,
  deletePasskey,
  renamePasskey,
} from '../../db/accounts/passkey.ts';
import { deleteRecoveryCodes } from '../../db/accounts/recovery-code.ts';
import { factorsOf, hasAny, findFactors } from '../../db/accounts/second-factor.ts';
import { deleteSessionsOfUser, renewSession, forgetSecondFactor } from '../../db/accounts/session.ts';
import { endLossOfSecondFactor, findUser, type User } from '../../db/accounts/user.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import {
  isFreshToEnrol,
  permissionDenied,
  verificationFailed,
  type ActedBy,
  type ByPerson,
} from '../../domain/accounts/member.ts';
import { MAX_PASSKEYS_PER_PERSON, type ChallengeUse } from '../../domain/accounts/passkey.ts';
import { notFound, stateConflict } from '../../domain/errors.ts';
import { newId, isId } from '../../domain/ids.ts';
import type { AttemptLimit, PasswordAttempt } from '../../security/attempt-limit.ts';
import { verifyRegistration, type GivenCredential, type RelyingParty } from '../../security/passkey.ts';

export type StartedPasskey = {
  readonly challenge: Buffer;
  /** The registered credentials of the person. */
  readonly credentials: readonly Buffer[];
  readonly email: string;
  readonly name: string;
};

/**
 * A challenge to register another passkey, valid once and for five minutes. Throws `permission_denied` for a wrong
 * password, and unless the person verified their second factor, or without one their password, within five minutes.
 */
export function startPasskey(db: Database, input: PasswordAttempt & ByPerson): Promise<StartedPasskey> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUser(tx, by.person.userId);
    // A person who merely has access to this session must not add their own factor to it.
    if (user?.passwordHash !== input.verifiedHash) throw verificationFailed('wrong password');
    if (!isFreshToEnrol(by.person, at)) throw permissionDenied('needs a step-up first');
    const started = await startFor(tx, user, 'register', at);
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'passkey.started', subjectId: user.id, at });
    return started;
  });
}

/** A challenge to step up with one of the person's passkeys, valid once and for five minutes. */
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
 * A challenge to log in with a passkey, for this e-mail address alone. It does not reveal whether the address is known.
 * Throws `rate_limited` for an address that requested too many.
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

export type RegisterPasskey = PasswordAttempt &
  ByPerson & {
    readonly tokenSha256: Buffer;
    readonly name: string;
    /** Null: the given text cannot be a credential. */
    readonly given: GivenCredential | null;
    readonly rp: RelyingParty;
  };

/**
 * The session's new token. The passkey is a second factor from now on, and counts as verified in this session. Every
 * other session of the person has ended, at every merchant. Throws `permission_denied` for a wrong password or
 * response, a used or expired challenge, or without a fresh verification; and `state_conflict` if the passkey is
 * registered already or the person has ten.
 */
export async function registerPasskey(db: Database, input: RegisterPasskey): Promise<{ readonly token: string }> {
  const { by, at, given, rp, name } = input;
  const { userId } = by.person;
  return db.withTransaction(async (tx) => {
    // No attestation covers the row of a challenge: the row does not prove that the password was given for it.
    const user = await lockOwnUser(tx, input);
    const person = { ...by.person, hasSecondFactor: hasAny(factorsOf(user)) };
    if (!isFreshToEnrol(person, at)) throw permissionDenied('needs a step-up first');
    const isOurs =
      given !== null && (await useChallenge(tx, given.challenge, { purpose: 'register', subject: userId }, at));
    const credential = isOurs ? await verifyRegistration(rp, given) : null;
    if (!credential) throw verificationFailed('wrong passkey response');
    const { credentialId, publicKey } = credential;
    if ((await listPasskeys(tx, userId)).length >= MAX_PASSKEYS_PER_PERSON) {
      throw stateConflict(`You have ${MAX_PASSKEYS_PER_PERSON} passkeys. Remove one first.`);
    }
    const id = newId('psk', at.getTime());
    const counter = BigInt(credential.counter);
    if (!(await insertPasskey(tx, { id, userId, name, credentialId, publicKey, counter, createdAt: at }))) {
      throw stateConflict('This passkey is registered already.');
    }
    await endLossOfSecondFactor(tx, userId);
    const { token, sha256 } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt: at });
    // Otherwise a session opened with the password alone would now count as one of a person with a second factor.
    await deleteSessionsOfUser(tx, userId, sha256);
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'passkey.registered', subjectId: id, after: { name }, at });
    return { token };
  });
}

/** Throws `passkey_not_found`. */
export async function namePasskey(
  db: Database,
  { id, name }: { readonly id: string; readonly name: string },
  by: ActedBy,
  at: Date,
): Promise<void> {
  await db.withTransaction(async (tx) => {
    if (!isId('psk', id) || !(await renamePasskey(tx, by.person.userId, id, name))) throw notFound('passkey');
    await recordAct(tx, by, { action: 'passkey.named', subjectId: id, after: { name }, at });
  });
}

/**
 * The passkey is invalid from now on. Throws `permission_denied` for a wrong password, `passkey_not_found`, and
 * `state_conflict` if it is the last second factor of a person whose roles, at any merchant, require one.
 */
export async function removePasskey(
  db: Database,
  input: PasswordAttempt & ByPerson & { readonly id: string },
): Promise<void> {
  const { id, by, at } = input;
  const { userId } = by.person;
  const isFound = await db.withTransaction(async (tx) => {
    // The lock excludes a concurrent removal of the other factor.
    await lockOwnUser(tx, input);
    const name = isId('psk', id) ? await deletePasskey(tx, userId, id) : null;
    // The password was right, so the attempt was no failed guess, whatever the id is.
    await uncountAttempts(tx, input.counted, at);
    if (name === null) return false;
    await forgetLastFactor(tx, by);
    await recordAct(tx, by, { action: 'passkey.removed', subjectId: id, before: { name }, at });
    return true;
  });
  if (!isFound) throw notFound('passkey');
}

async function forgetLastFactor(tx: Tx, { person: { userId } }: ActedBy): Promise<void> {
  if (hasAny(await findFactors(tx, userId))) return;
  await requireNoFactorNeeded(tx, userId);
  await deleteRecoveryCodes(tx, userId);
  await forgetSecondFactor(tx, userId);
}
