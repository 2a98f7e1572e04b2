// New passwords that come with a request: those that are guessed first are refused.
import { invalidParameters } from '../domain/errors.ts';
import { isEasilyGuessed } from '../security/password-strength.ts';

/**
 * Throws `parameter_invalid` for a common password, a pattern, or one made of these names. It takes tens of
 * milliseconds, so routes call it for people whom they have identified.
 */
export function requireHardToGuess(param: string, password: string, names: readonly string[]): void {
  if (!isEasilyGuessed(password, names)) return;
  const message = `${param} is too easily guessed: it is common, a pattern, or a name of yours. Choose other words.`;
  throw invalidParameters([{ param, code: 'parameter_invalid', message }]);
}
