// The use of a passkey: it signs an unused challenge of ours for this purpose, and its counter rises.
import type { ChallengeUse } from '../../domain/accounts/passkey.ts';
import type { UserId } from '../../domain/ids.ts';
import { verifyAssertion, type GivenCredential, type RelyingParty } from '../../security/passkey.ts';
import type { Tx } from '../platform/database.ts';
import { findPasskeyLocked, useChallenge, usePasskey } from './passkey.ts';

/** What a browser returned from a passkey, and for whom it counts. */
export type PasskeyAttempt = {
  /** Null: what was given cannot be a credential. */
  readonly given: GivenCredential | null;
  readonly rp: RelyingParty;
  readonly use: ChallengeUse;
};

/**
 * Null when the passkey verifies the user, otherwise why it does not. A challenge works once: of two simultaneous uses,
 * one succeeds. A counter that does not rise is refused, because somebody may have copied the passkey.
 */
export async function refusalOfPasskey(
  tx: Tx,
  userId: UserId,
  { given, rp, use }: PasskeyAttempt,
  at: Date,
): Promise<string | null> {
  if (!given) return 'malformed passkey response';
  if (!(await useChallenge(tx, given.challenge, use, at))) return 'used, expired or foreign passkey challenge';
  const passkey = await findPasskeyLocked(tx, userId, given.credentialId);
  if (!passkey) return 'unknown passkey';
  const counter = await verifyAssertion(rp, given, passkey);
  if (counter === null) return 'wrong passkey response';
  // An authenticator that does not count always says 0.
  if ((counter > 0 || passkey.counter > 0n) && BigInt(counter) <= passkey.counter) {
    return 'the counter of the passkey went back: somebody may have a copy of it';
  }
  await usePasskey(tx, passkey.id, counter, at);
  return null;
}
