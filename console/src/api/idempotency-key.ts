// The key of an act on money: created before the first try, and kept until the act is answered, so that a double click,
// a reload or a lost answer cannot repeat the act.
import { ApiError } from './api-error.ts';
import { merchantShown } from './client.ts';

// For the merchant that the page shows: the same act at another merchant is another act.
const nameOf = (subject: string) => `malipo-key:${merchantShown() ?? ''}:${subject}`;

/**
 * Carries out `act` under the key of this `subject` (the act and its object). The key survives a reload of the page,
 * and is dropped once an answer gives the outcome of the act.
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

/** The key of the next try of this act: that of an unanswered try, or a new one. */
export function idempotencyKeyOf(subject: string): string {
  const name = nameOf(subject);
  const key = sessionStorage.getItem(name) ?? `console-${crypto.randomUUID()}`;
  sessionStorage.setItem(name, key);
  return key;
}

/** Called once the outcome of the act is known: the next act is another one. */
export function forgetIdempotencyKey(subject: string): void {
  sessionStorage.removeItem(nameOf(subject));
}
