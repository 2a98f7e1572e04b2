// Repeats a compare-and-set until it is written or no longer applies.

/** Each miss means that another process changed the payment, and a payment changes only a few times in all. */
const MAX_TRIES = 10;

/** Runs `attempt`, which decides on a fresh read, until it does not miss. Throws after ten misses. */
export async function compareAndSet<Result extends object>(
  id: string,
  attempt: () => Promise<Result | 'missed'>,
): Promise<Result> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const result = await attempt();
    if (result !== 'missed') return result;
  }
  throw new Error(`${id} changed ${MAX_TRIES} times while one transition was being recorded`);
}
