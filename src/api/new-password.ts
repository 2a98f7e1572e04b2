// Refuses new passwords that are easily guessed.
import { invalidParameters } from '../domain/errors.ts';
import { isEasilyGuessed } from '../security/password-strength.ts';

/**
 * Throws `parameter_invalid` for a common password, a pattern, or one of these names with little else. The check blocks
 * this process for some tenths of a second: routes call it within an attempt that is counted.
 */
export function requireHardToGuess(param: string, password: string, names: readonly string[]): void {
  if (!isEasilyGuessed(password, names)) return;
  const message = `${param} is too easily guessed: it is common, a pattern, or a name with little else. Choose other words.`;
  throw invalidParameters([{ param, code: 'parameter_invalid', message }]);
}
