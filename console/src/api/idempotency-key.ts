// The key under which an act on money is sent: made before the first try, and kept until that act is answered, so that a double
// click, a reload or a lost answer cannot do it twice.
import { ApiError } from './api-error.ts';

const PREFIX = 'malipo-key:';

/**
 * Carries out `act` under the key of this `subject` (what is done, to what). The key outlives a reload of the page, and is
 * dropped once an answer says what became of the act.
 */
export async function withIdempotencyKey<Result>(
  subject: string,
  act: (key: string) => Promise<Result>,
): Promise<Result> {
  const name = PREFIX + subject;
  try {
    const result = await act(idempotencyKeyOf(subject));
    sessionStorage.removeItem(name);
    return result;
  } catch (error) {
    if (error instanceof ApiError && error.isDecided) sessionStorage.removeItem(name);
    throw error;
  }
}

/** The key under which this act is sent next: the one of a try that was not answered, or a new one. */
export function idempotencyKeyOf(subject: string): string {
  const name = PREFIX + subject;
  const key = sessionStorage.getItem(name) ?? `console-${crypto.randomUUID()}`;
  sessionStorage.setItem(name, key);
  return key;
}
