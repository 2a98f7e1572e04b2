// Rows of recoveries: the digest of a one-time token with which a person sets a new password.
import type { UserId } from '../../domain/ids.ts';
import { statement, type Queryable, type Tx } from '../database.ts';

const PUT = statement(
  'recovery_put',
  `INSERT INTO recoveries (token_sha256, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (user_id) DO UPDATE SET token_sha256 = excluded.token_sha256, created_at = excluded.created_at,
     expires_at = excluded.expires_at`,
);

export type NewRecovery = {
  readonly tokenSha256: Buffer;
  readonly userId: UserId;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** The person's one recovery; the token of an earlier one opens nothing any more. */
export async function putRecovery(tx: Tx, { tokenSha256, userId, createdAt, expiresAt }: NewRecovery): Promise<void> {
  await tx.run(PUT, [tokenSha256, userId, createdAt, expiresAt]);
}

const FIND = statement('recovery_find', 'SELECT user_id FROM recoveries WHERE token_sha256 = $1 AND expires_at > $2');

/** Whose token it is; null when it is nobody's, was used or replaced, or its time is over. */
export async function findRecovery(db: Queryable, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  const [row] = await db.run<{ user_id: UserId }>(FIND, [tokenSha256, at]);
  return row?.user_id ?? null;
}

const USE = statement(
  'recovery_use',
  'DELETE FROM recoveries WHERE token_sha256 = $1 AND expires_at > $2 RETURNING user_id',
);

/** The same, and the token is used up: of two who come with it at once, one has it. */
export async function useRecovery(tx: Tx, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  const [row] = await tx.run<{ user_id: UserId }>(USE, [tokenSha256, at]);
  return row?.user_id ?? null;
}

const DELETE_ENDED = statement(
  'recovery_delete_ended',
  `WITH gone AS (
     DELETE FROM recoveries WHERE token_sha256 IN (
       SELECT token_sha256 FROM recoveries WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
     RETURNING 1)
   SELECT count(*)::int AS count FROM gone`,
);

export async function deleteEndedRecoveries(db: Queryable, at: Date, limit: number): Promise<number> {
  const [row] = await db.run<{ count: number }>(DELETE_ENDED, [at, limit]);
  return row?.count ?? 0;
}
