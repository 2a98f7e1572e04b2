// Rows of users: people, their password hashes and their second factors.
import type { UserId } from '../../domain/ids.ts';
import { findOne, statement, type Queryable, type Tx } from '../database.ts';

export type User = {
  readonly id: UserId;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  /** Null: no second factor. */
  readonly totpSecretSealed: string | null;
  readonly totpPendingSealed: string | null;
};

const COLUMNS = 'id, email, name, password_hash, totp_secret_sealed, totp_pending_sealed';

const INSERT = statement(
  'user_insert',
  `INSERT INTO users (id, email, name, password_hash, totp_secret_sealed, created_at) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (email) DO NOTHING RETURNING 1`,
);

export type NewUser = Omit<User, 'totpPendingSealed'> & { readonly createdAt: Date };

/** False when somebody has this e-mail already; then nothing changes. */
export async function insertUser(tx: Tx, user: NewUser): Promise<boolean> {
  const { id, email, name, passwordHash, totpSecretSealed, createdAt } = user;
  const rows = await tx.run(INSERT, [id, email, name, passwordHash, totpSecretSealed, createdAt]);
  return rows.length === 1;
}

const FIND_BY_EMAIL = statement('user_find_by_email', `SELECT ${COLUMNS} FROM users WHERE email = $1`);

export async function findUserByEmail(db: Queryable, email: string): Promise<User | null> {
  return findOne<User>(db, FIND_BY_EMAIL, [email]);
}

const FIND = statement('user_find', `SELECT ${COLUMNS} FROM users WHERE id = $1`);

export async function findUser(db: Queryable, id: UserId): Promise<User | null> {
  return findOne<User>(db, FIND, [id]);
}

const FIND_LOCKED = statement('user_find_locked', `SELECT ${COLUMNS} FROM users WHERE id = $1 FOR NO KEY UPDATE`);

/** The user, locked: no other transaction changes their password or second factor until this one ends. */
export async function findUserLocked(tx: Tx, id: UserId): Promise<User | null> {
  return findOne<User>(tx, FIND_LOCKED, [id]);
}

const SET_PASSWORD = statement('user_set_password', 'UPDATE users SET password_hash = $2 WHERE id = $1');

export async function setPassword(tx: Tx, id: UserId, passwordHash: string): Promise<void> {
  await tx.run(SET_PASSWORD, [id, passwordHash]);
}

const USE_TOTP_STEP = statement(
  'user_use_totp_step',
  `UPDATE users SET totp_last_step = $2
   WHERE id = $1 AND totp_secret_sealed IS NOT NULL AND (totp_last_step IS NULL OR totp_last_step < $2) RETURNING 1`,
);

/** Uses up the code of this time step and of every earlier one. False when it was used already. */
export async function useTotpStep(tx: Tx, id: UserId, step: number): Promise<boolean> {
  const rows = await tx.run(USE_TOTP_STEP, [id, step]);
  return rows.length === 1;
}

const SET_PENDING_TOTP = statement('user_set_pending_totp', 'UPDATE users SET totp_pending_sealed = $2 WHERE id = $1');

export async function setPendingTotp(tx: Tx, id: UserId, sealed: string): Promise<void> {
  await tx.run(SET_PENDING_TOTP, [id, sealed]);
}

const CONFIRM_TOTP = statement(
  'user_confirm_totp',
  `UPDATE users SET totp_secret_sealed = totp_pending_sealed, totp_pending_sealed = NULL, totp_last_step = $2,
     lost_second_factor = false
   WHERE id = $1`,
);

/** Makes the pending secret the second factor, and uses up the step whose code confirmed it. */
export async function confirmTotp(tx: Tx, id: UserId, step: number): Promise<void> {
  await tx.run(CONFIRM_TOTP, [id, step]);
}

const MARK_RECOVERED = statement(
  'user_mark_recovered',
  `UPDATE users SET recovered_at = greatest(recovered_at, $2), lost_second_factor = lost_second_factor OR totp_secret_sealed IS NOT NULL
   WHERE id = $1`,
);

/**
 * Notes that the account was recovered. A person who has a second factor then must enrol another one before anything
 * else: call it before the factor is removed.
 */
export async function markRecovered(tx: Tx, id: UserId, at: Date): Promise<void> {
  await tx.run(MARK_RECOVERED, [id, at]);
}

const REMOVE_TOTP = statement(
  'user_remove_totp',
  'UPDATE users SET totp_secret_sealed = NULL, totp_pending_sealed = NULL, totp_last_step = NULL WHERE id = $1',
);

export async function removeTotp(tx: Tx, id: UserId): Promise<void> {
  await tx.run(REMOVE_TOTP, [id]);
}
