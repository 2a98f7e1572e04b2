// A name from an operator's answer, as it is stored and shown.
import { LONGEST_PAYEE_NAME } from '../domain/payments/payee-name.ts';
import { isVisibleLine } from '../domain/visible-text.ts';
import type { NameOutcome } from './port.ts';

/** In one line, and cut where it is far too long. `unknown` where it has characters that cannot be shown. */
export function nameOutcome(text: string): NameOutcome {
  const name = text.replace(/\s+/g, ' ').trim().slice(0, LONGEST_PAYEE_NAME).trim();
  if (name === '') return { kind: 'unnamed' };
  return isVisibleLine(name, LONGEST_PAYEE_NAME)
    ? { kind: 'named', name }
    : { kind: 'unknown', reason: 'a name that cannot be shown' };
}
