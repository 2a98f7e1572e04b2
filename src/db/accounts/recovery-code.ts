// Rows of recovery codes: the digests of a person's one-time codes for a second factor that was lost.
import type { UserId } from '../../domain/ids.ts';
import { statement, type Queryable, type Tx } from '../database.ts';

const DELETE = statement('recovery_code_delete', 'DELETE FROM recovery_codes WHERE user_id = $1');

export async function deleteRecoveryCodes(tx: Tx, userId: UserId): Promise<void> {
  await tx.run(DELETE, [userId]);
}

const INSERT = statement(
  'recovery_code_insert',
  'INSERT INTO recovery_codes (user_id, code_sha256, created_at) SELECT $1, unnest($2::bytea[]), $3',
);

export async function insertRecoveryCodes(tx: Tx, userId: UserId, digests: readonly Buffer[], at: Date): Promise<void> {
  await tx.run(INSERT, [userId, digests, at]);
}

const USE = statement(
  'recovery_code_use',
  'UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND code_sha256 = $2 AND used_at IS NULL RETURNING 1',
);

/** Uses the code up. False when the person has no such code, or it was used: of two simultaneous uses, one succeeds. */
export async function useRecoveryCode(tx: Tx, userId: UserId, sha256: Buffer, at: Date): Promise<boolean> {
  return (await tx.run(USE, [userId, sha256, at])).length === 1;
}

const COUNT_LEFT = statement(
  'recovery_code_count_left',
  'SELECT count(*)::int AS count FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL',
);

export async function countRecoveryCodes(db: Queryable, userId: UserId): Promise<number> {
  const [row] = await db.run<{ count: number }>(COUNT_LEFT, [userId]);
  return row?.count ?? 0;
}
