// Recovery of a person who lost their password or their second factor.

/** How long its token can be used. */
export const RECOVERY_LIFE_MS = 24 * 60 * 60_000;
