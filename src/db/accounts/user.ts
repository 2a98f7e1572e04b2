// Rows of users: people, their password hashes and their second factors.
import { permissionDenied, type NamedPerson, authenticationFailed } from '../../domain/accounts/member.ts';
import type { PasskeyId, UserId } from '../../domain/ids.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { insertion } from '../platform/columns.ts';
import { findOne, statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';

const attestedUsers = attestedTable('users');

export type User = {
  readonly id: UserId;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  /** Null: no second factor. */
  readonly totpSecretSealed: string | null;
  readonly totpPendingSealed: string | null;
  readonly passkeyIds: readonly PasskeyId[];
  /** Whether the person must enrol a second factor again before anything else. */
  readonly lostSecondFactor: boolean;
  /** When the account was recovered last. */
  readonly recoveredAt: Date | null;
};

type UserRow = User & AttestedRow<'users'>;

const SELECT = `SELECT ${attestedUsers.columns}, t.totp_secret_sealed, t.totp_pending_sealed FROM users t`;

async function find(db: Queryable, query: Statement, value: string): Promise<User | null> {
  const row = await findOne<UserRow>(db, query, [value]);
  return row && toUser(db, row);
}

/** Throws `permission_denied` for an unattested row. */
function toUser(db: Queryable, row: UserRow): User {
  // As for a missing account: the response must not distinguish them.
  if (!attestedUsers.isAttested(db, row)) throw authenticationFailed('the row of the account is not attested');
  return row;
}

const insert = insertion(
  'user_insert',
  'users',
  'id, email, name, password_hash, totp_secret_sealed, created_at',
  'ON CONFLICT (email) DO NOTHING RETURNING 1',
);

export type NewUser = Pick<User, 'id' | 'email' | 'name' | 'passwordHash' | 'totpSecretSealed'> & {
  readonly createdAt: Date;
};

/** False if the e-mail belongs to another user; then nothing changes. */
export async function insertUser(tx: Tx, user: NewUser): Promise<boolean> {
  if ((await insert(tx, user)).length === 0) return false;
  await attestedUsers.attest(tx, [user.id]);
  return true;
}

const FIND_BY_EMAIL = statement('user_find_by_email')`${SELECT} WHERE t.email = $1`;

export async function findUserByEmail(db: Queryable, email: string): Promise<User | null> {
  return find(db, FIND_BY_EMAIL, email);
}

const FIND_ID_BY_EMAIL = statement('user_find_id_by_email')`SELECT id FROM users WHERE email = $1`;

/** The user id of the e-mail, only for the audit log: the attestation of the row is not verified here. */
export async function findUserIdByEmail(db: Queryable, email: string): Promise<UserId | null> {
  return (await findOne<{ id: UserId }>(db, FIND_ID_BY_EMAIL, [email]))?.id ?? null;
}

const FIND = statement('user_find')`${SELECT} WHERE t.id = $1`;

export async function findUser(db: Queryable, id: UserId): Promise<User | null> {
  return find(db, FIND, id);
}

const LIST = statement('user_list')`${SELECT} WHERE t.id = ANY($1) ORDER BY t.id`;

/** The users among these ids with attested rows: nobody else can log in. */
export async function listUsers(db: Queryable, ids: readonly UserId[]): Promise<User[]> {
  return attestedUsers.only(db, await db.run<UserRow>(LIST, [ids]));
}

/** The rows whose people are attested: people decide by the displayed names and addresses. */
export async function withAttestedPeople<Row>(
  db: Queryable,
  rows: readonly Row[],
  peopleOf: (row: Row) => readonly (NamedPerson | null)[],
): Promise<Row[]> {
  const shown = rows.flatMap(peopleOf).filter((person) => person !== null);
  const ids = [...new Set(shown.map(({ id }) => id))];
  const users = new Map((await listUsers(db, ids)).map((user) => [user.id, user]));
  const isShownTruly = ({ id, name, email }: NamedPerson): boolean => {
    const user = users.get(id);
    return user?.name === name && user.email === email;
  };
  return rows.filter((row) => peopleOf(row).every((person) => person === null || isShownTruly(person)));
}

/** Throws `permission_denied` unless the people of all rows are attested. */
export async function requireAttestedPeople<Row>(
  db: Queryable,
  rows: readonly Row[],
  peopleOf: (row: Row) => readonly (NamedPerson | null)[],
): Promise<void> {
  const attested = await withAttestedPeople(db, rows, peopleOf);
  if (attested.length < rows.length) throw permissionDenied('the row of a person’s account is not attested');
}

const LOCK = statement('user_lock')`SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE`;

/** The user, locked: no other transaction changes password or second factor until this one ends. */
export async function findUserLocked(tx: Tx, id: UserId): Promise<User | null> {
  // Two statements: a single one would read the passkeys as of the time before it waited for the lock.
  await tx.run(LOCK, [id]);
  return findUser(tx, id);
}

const SET_PASSWORD = statement('user_set_password')`UPDATE users SET password_hash = $2 WHERE id = $1`;

export async function setPassword(tx: Tx, id: UserId, passwordHash: string): Promise<void> {
  await attestedUsers.change(tx, [id], () => tx.run(SET_PASSWORD, [id, passwordHash]));
}

const USE_TOTP_STEP = statement('user_use_totp_step')`
  UPDATE users SET totp_last_step = $2
  WHERE id = $1 AND totp_secret_sealed IS NOT NULL AND (totp_last_step IS NULL OR totp_last_step < $2) RETURNING 1`;

/** Uses up the code of this time step and of every earlier one. False if it was used already. */
export async function useTotpStep(tx: Tx, id: UserId, step: number): Promise<boolean> {
  return (await tx.run(USE_TOTP_STEP, [id, step])).length === 1;
}

const SET_PENDING_TOTP = statement('user_set_pending_totp')`UPDATE users SET totp_pending_sealed = $2 WHERE id = $1`;

export async function setPendingTotp(tx: Tx, id: UserId, sealed: string): Promise<void> {
  await tx.run(SET_PENDING_TOTP, [id, sealed]);
}

const CONFIRM_TOTP = statement('user_confirm_totp')`
  UPDATE users SET totp_secret_sealed = totp_pending_sealed, totp_pending_sealed = NULL, totp_last_step = $2,
    lost_second_factor = false
  WHERE id = $1`;

/** Makes the pending secret the second factor, and uses up the step whose code confirmed it. */
export async function confirmTotp(tx: Tx, id: UserId, step: number): Promise<void> {
  await attestedUsers.change(tx, [id], () => tx.run(CONFIRM_TOTP, [id, step]));
}

const END_LOSS = statement('user_end_loss')`UPDATE users SET lost_second_factor = false WHERE id = $1`;

/** Ends the loss of the second factor: the person has one again, other than an authenticator app. */
export async function endLossOfSecondFactor(tx: Tx, id: UserId): Promise<void> {
  await attestedUsers.change(tx, [id], () => tx.run(END_LOSS, [id]));
}

const MARK_RECOVERED = statement('user_mark_recovered')`
  UPDATE users SET recovered_at = greatest(recovered_at, $2), lost_second_factor = lost_second_factor OR has_second_factor(id)
  WHERE id = $1`;

/** Marks the recovery: a person with a second factor must enrol another one. Call it before the factor is removed. */
export async function markRecovered(tx: Tx, id: UserId, at: Date): Promise<void> {
  await attestedUsers.change(tx, [id], () => tx.run(MARK_RECOVERED, [id, at]));
}

const REMOVE_TOTP = statement('user_remove_totp')`
  UPDATE users SET totp_secret_sealed = NULL, totp_pending_sealed = NULL, totp_last_step = NULL WHERE id = $1`;

export async function removeTotp(tx: Tx, id: UserId): Promise<void> {
  await attestedUsers.change(tx, [id], () => tx.run(REMOVE_TOTP, [id]));
}
