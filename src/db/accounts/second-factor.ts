// The use of a one-time code: right, of a step near now, and of one that no code was used of before.
import { open, type KeyRing } from '../../security/sealing.ts';
import { matchTotpStep } from '../../security/totp.ts';
import type { Tx } from '../database.ts';
import { useTotpStep, type User } from './user.ts';

/** Whether the code proves the user's second factor now. It never does again: of two at once, one does. */
export async function useTotpCode(
  tx: Tx,
  user: User,
  code: string | null,
  context: { readonly keyRing: KeyRing; readonly at: Date },
): Promise<boolean> {
  if (user.totpSecretSealed === null || code === null) return false;
  const secret = open(user.totpSecretSealed, user.id, context.keyRing);
  const step = matchTotpStep(secret, code, context.at);
  return step !== null && (await useTotpStep(tx, user.id, step));
}
