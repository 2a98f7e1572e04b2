// The key under which an act on money is sent: made before the first try, and kept until that act is answered, so that a double
// click, a reload or a lost answer cannot do it twice.
import { ApiError } from './api-error.ts';
import { merchantShown } from './client.ts';

// Of the merchant that the page shows: the same act at another one is another act.
const nameOf = (subject: string) => `malipo-key:${merchantShown() ?? ''}:${subject}`;

/**
 * Carries out `act` under the key of this `subject` (what is done, to what). The key outlives a reload of the page, and is
 * dropped once an answer says what became of the act.
 */
export async function withIdempotencyKey<Result>(
  subject: string,
  act: (key: string) => Promise<Result>,
): Promise<Result> {
  try {
    const result = await act(idempotencyKeyOf(subject));
    forgetIdempotencyKey(subject);
    return result;
  } catch (error) {
    if (error instanceof ApiError && error.isDecided) forgetIdempotencyKey(subject);
    throw error;
  }
}

/** The key under which this act is sent next: the one of a try that was not answered, or a new one. */
export function idempotencyKeyOf(subject: string): string {
  const name = nameOf(subject);
  const key = sessionStorage.getItem(name) ?? `console-${crypto.randomUUID()}`;
  sessionStorage.setItem(name, key);
  return key;
}

/** Once it is known what became of the act: the next one is another act. */
export function forgetIdempotencyKey(subject: string): void {
  sessionStorage.removeItem(nameOf(subject));
}
