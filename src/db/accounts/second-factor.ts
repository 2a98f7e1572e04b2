// The use of a one-time code: it must be correct, for a time step near now, and later than the last used step.
import { open, type KeyRing } from '../../security/sealing.ts';
import { matchTotpStep } from '../../security/totp.ts';
import type { UserId } from '../../domain/ids.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';
import { useTotpStep, type User } from './user.ts';

/** The enrolled second factors of a person. */
export type Factors = { readonly hasTotp: boolean; readonly passkeys: number };

const FIND_FACTORS = statement('second_factor_find')`
  SELECT totp_secret_sealed IS NOT NULL AS has_totp,
         (SELECT count(*)::int FROM passkeys p WHERE p.user_id = u.id) AS passkeys
  FROM users u WHERE id = $1`;

export async function findFactors(db: Queryable, userId: UserId): Promise<Factors> {
  return (await findOne<Factors>(db, FIND_FACTORS, [userId])) ?? { hasTotp: false, passkeys: 0 };
}

/** The factors of a user whose row was read. */
export function factorsOf({ totpSecretSealed, passkeyIds }: User): Factors {
  return { hasTotp: totpSecretSealed !== null, passkeys: passkeyIds.length };
}

/** Whether the person has a second factor of any kind. */
export function hasAny({ hasTotp, passkeys }: Factors): boolean {
  return hasTotp || passkeys > 0;
}

/** As `hasAny`, in a statement that reads the user as `u`. */
export const HAS_SECOND_FACTOR =
  '(u.totp_secret_sealed IS NOT NULL OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id))';

/** Whether the code verifies the user's second factor. A code works once: of two concurrent uses, one succeeds. */
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
