// Compares a given secret with the expected one.
import { timingSafeEqual } from 'node:crypto';

export function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
