// Limits failed guesses at passwords and second factors in this process's memory, which the database cannot reset.
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { DomainError } from '../domain/errors.ts';
import type { UserId } from '../domain/ids.ts';
import { countWithin } from './middleware/rate-limit.ts';

/**
 * More than the limits in the database allow in any 24 hours: thirty a day for log-ins and thirty in sessions, whose
 * days may both end and begin again within this one. While those limits hold, this limit refuses nobody.
 */
export const MAX_FAILURES_PER_PERSON = 150;
const DAY_SECONDS = 24 * 60 * 60;

/** Makes an attempt to authenticate as this person, or as nobody. Throws `rate_limited` after too many failures. */
export type GuessLimit = <Result>(person: UserId | null, attempt: () => Promise<Result>) => Promise<Result>;

/** Keeps one number for a day for each person with a failure, and nothing for accounts that do not exist. */
export function createGuessLimit(): GuessLimit {
  const failures = new RateLimiterMemory({ points: MAX_FAILURES_PER_PERSON, duration: DAY_SECONDS });
  return async (person, attempt) => {
    if (person === null) return attempt();
    // Counted before the attempt is made, so that concurrent attempts do not exceed the limit together.
    await countWithin(failures, person, 'Too many failed attempts. Wait, then try again.');
    try {
      const result = await attempt();
      await failures.reward(person);
      return result;
    } catch (error) {
      // Another limit refused the attempt, so nothing was guessed.
      if (error instanceof DomainError && error.code === 'rate_limited') await failures.reward(person);
      throw error;
    }
  };
}
