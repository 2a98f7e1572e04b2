// Rows of recoveries: the digest of a one-time token with which a person sets a new password.
import type { UserId } from '../../domain/ids.ts';
import { boundedDelete } from '../bounded-delete.ts';
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

/** Stores the person's one recovery. It replaces an earlier one, whose token is invalid from then on. */
export async function putRecovery(tx: Tx, { tokenSha256, userId, createdAt, expiresAt }: NewRecovery): Promise<void> {
  await tx.run(PUT, [tokenSha256, userId, createdAt, expiresAt]);
}

const FIND = statement('recovery_find', 'SELECT user_id FROM recoveries WHERE token_sha256 = $1 AND expires_at > $2');

/** The person whose token this is; null when the token is unknown, used, replaced or expired. */
export async function findRecovery(db: Queryable, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  const [row] = await db.run<{ userId: UserId }>(FIND, [tokenSha256, at]);
  return row?.userId ?? null;
}

const USE = statement(
  'recovery_use',
  'DELETE FROM recoveries WHERE token_sha256 = $1 AND expires_at > $2 RETURNING user_id',
);

/** Like `findRecovery`, and uses the token up. Of two people who present it at the same moment, only one succeeds. */
export async function useRecovery(tx: Tx, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  const [row] = await tx.run<{ userId: UserId }>(USE, [tokenSha256, at]);
  return row?.userId ?? null;
}

export const deleteEndedRecoveries = boundedDelete('recovery_delete_ended', {
  table: 'recoveries',
  key: 'token_sha256',
  isOver: 'expires_at <= $1',
});
