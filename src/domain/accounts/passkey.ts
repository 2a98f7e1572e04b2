// Passkeys: second factors that a person's device or security key holds, and that sign a challenge of ours.
import type { PasskeyId, UserId } from '../ids.ts';

export type Passkey = {
  readonly id: PasskeyId;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

/** The purpose of a signed challenge. */
export type PasskeyPurpose = 'register' | 'log_in' | 'step_up';

/** A challenge is valid for one purpose, and for one person or, at a log-in, for one e-mail address. */
export type ChallengeUse = { readonly purpose: PasskeyPurpose; readonly subject: UserId | `account/${string}` };

export const MAX_PASSKEYS_PER_PERSON = 10;
export const CHALLENGE_LIFE_MS = 5 * 60_000;
