// Limits, in this process's memory, the failed guesses at a person's password and second factor: the database cannot reset it.
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { DomainError } from '../domain/errors.ts';
import type { UserId } from '../domain/ids.ts';
import { countWithin } from './middleware/rate-limit.ts';

/**
 * More than the limits in the database let through in any 24 hours, thirty a day for log-ins and thirty in sessions,
 * whose days may both end and begin again within ours. So it refuses nobody as long as those hold.
 */
export const MAX_FAILURES_PER_PERSON = 150;
const DAY_SECONDS = 24 * 60 * 60;

/** Makes an attempt to authenticate as this person, or as nobody. Throws `rate_limited` after too many failures. */
export type GuessLimit = <Result>(person: UserId | null, attempt: () => Promise<Result>) => Promise<Result>;

/** It holds one number for each person with a failure, for a day, and nothing for anybody who does not exist. */
export function createGuessLimit(): GuessLimit {
  const failures = new RateLimiterMemory({ points: MAX_FAILURES_PER_PERSON, duration: DAY_SECONDS });
  return async (person, attempt) => {
    if (person === null) return attempt();
    // Counted before it is made, so that many at once do not exceed the limit together.
    await countWithin(failures, person, 'Too many failed attempts. Wait, then try again.');
    try {
      const result = await attempt();
      await failures.reward(person);
      return result;
    } catch (error) {
      // Another limit refused it: nothing was guessed.
      if (error instanceof DomainError && error.code === 'rate_limited') await failures.reward(person);
      throw error;
    }
  };
}
