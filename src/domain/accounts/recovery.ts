// Recovery: a new password for a person who lost theirs or their second factor.

/** How long a recovery token is valid. */
export const RECOVERY_LIFE_MS = 24 * 60 * 60_000;
