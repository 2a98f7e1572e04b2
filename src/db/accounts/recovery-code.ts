// Rows of recovery codes, a person's one-time codes for a lost second factor: digests with a key outside the database.
import type { UserId } from '../../domain/ids.ts';
import { readCount, statement, type Queryable, type Tx } from '../platform/database.ts';

const DELETE = statement('recovery_code_delete')`DELETE FROM recovery_codes WHERE user_id = $1`;

export async function deleteRecoveryCodes(tx: Tx, userId: UserId): Promise<void> {
  await tx.run(DELETE, [userId]);
}

const INSERT = statement('recovery_code_insert')`
  INSERT INTO recovery_codes (user_id, code_sha256, created_at) SELECT $1, unnest($2::bytea[]), $3`;

export async function insertRecoveryCodes(tx: Tx, userId: UserId, codes: readonly string[], at: Date): Promise<void> {
  const digests = codes.map((code) => digestsOf(tx, userId, code)[0]);
  await tx.run(INSERT, [userId, digests, at]);
}

// For one person, and with a key: nobody can write a code by hand, or move one from another person.
function digestsOf({ attestor }: Queryable, userId: UserId, code: string): readonly [Buffer, ...Buffer[]] {
  return attestor.digestsOfSecret('recovery code', userId, code);
}

const USE = statement('recovery_code_use')`
  UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND code_sha256 = ANY($2) AND used_at IS NULL RETURNING 1`;

/** Uses the code up. False if the person has no such code, or it was used: of two concurrent uses, one succeeds. */
export async function useRecoveryCode(tx: Tx, userId: UserId, code: string, at: Date): Promise<boolean> {
  return (await tx.run(USE, [userId, digestsOf(tx, userId, code), at])).length === 1;
}

const FIND = statement('recovery_code_find')`
  SELECT 1 FROM recovery_codes WHERE user_id = $1 AND code_sha256 = ANY($2) AND used_at IS NULL`;

/** Whether the person has this code unused. Uses nothing up. */
export async function hasRecoveryCode(db: Queryable, userId: UserId, code: string): Promise<boolean> {
  return (await db.run(FIND, [userId, digestsOf(db, userId, code)])).length === 1;
}

const COUNT_LEFT = statement('recovery_code_count_left')`
  SELECT count(*)::int AS count FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL`;

export async function countRecoveryCodes(db: Queryable, userId: UserId): Promise<number> {
  return readCount(db, COUNT_LEFT, [userId]);
}
