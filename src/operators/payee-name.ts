// A name from an operator's answer, as it is stored and shown.
import { LONGEST_PAYEE_NAME } from '../domain/payments/payee-name.ts';
import { isVisibleLine } from '../domain/visible-text.ts';
import type { NameOutcome } from './port.ts';

/** Returns the name in one line, cut to the longest length. `unknown` if the name has characters that cannot be shown. */
export function nameOutcome(text: string): NameOutcome {
  const name = text.replace(/\s+/g, ' ').trim().slice(0, LONGEST_PAYEE_NAME).trim();
  if (name === '') return { kind: 'unnamed' };
  return isVisibleLine(name, LONGEST_PAYEE_NAME)
    ? { kind: 'named', name }
    : { kind: 'unknown', reason: 'a name that cannot be shown' };
}
