// The use of a passkey: it signs an unused challenge of ours for this purpose, and its counter increases.
import type { ChallengeUse } from '../../domain/accounts/passkey.ts';
import type { UserId } from '../../domain/ids.ts';
import { verifyAssertion, type GivenCredential, type RelyingParty } from '../../security/passkey.ts';
import type { Tx } from '../platform/database.ts';
import { findPasskeyLocked, useChallenge, usePasskey } from './passkey.ts';

/** The response of a passkey that a browser returned, and the user for whom it is verified. */
export type PasskeyAttempt = {
  /** Null: the given text cannot be a credential. */
  readonly given: GivenCredential | null;
  readonly rp: RelyingParty;
  readonly use: ChallengeUse;
};

/**
 * Null if the passkey verifies the user, otherwise the reason. A challenge works once: of two concurrent uses, one
 * succeeds. A counter that does not increase is refused, because somebody may have copied the passkey.
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
  // An authenticator without a counter always says 0.
  if ((counter > 0 || passkey.counter > 0n) && BigInt(counter) <= passkey.counter) {
    return 'the counter of the passkey went back: somebody may have a copy of it';
  }
  await usePasskey(tx, passkey.id, counter, at);
  return null;
}
