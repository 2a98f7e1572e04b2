// Rows of passkeys and of the challenges that they sign.
import type { PasskeyId, UserId } from '../../domain/ids.ts';
import { CHALLENGE_LIFE_MS, type ChallengeUse, type Passkey } from '../../domain/accounts/passkey.ts';
import { hashToken, newToken } from '../../security/token.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { insertion } from '../platform/columns.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

const attestedPasskeys = attestedTable('passkeys');
const attestedUsers = attestedTable('users');

export type StoredPasskey = Passkey & {
  readonly userId: UserId;
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly counter: bigint;
};

const SELECT = `SELECT ${attestedPasskeys.columns}, t.name, t.counter, t.created_at, t.last_used_at FROM passkeys t`;

const insert = insertion(
  'passkey_insert',
  'passkeys',
  'id, user_id, name, credential_id, public_key, counter, created_at',
  'ON CONFLICT (credential_id) DO NOTHING RETURNING 1',
);

/** False if the credential is registered already, by anybody. */
export async function insertPasskey(tx: Tx, passkey: Omit<StoredPasskey, 'lastUsedAt'>): Promise<boolean> {
  const rows = await attestedUsers.change(tx, [passkey.userId], () => insert(tx, passkey));
  if (rows.length === 0) return false;
  await attestedPasskeys.attest(tx, [passkey.id]);
  return true;
}

const LIST = statement('passkey_list')`${SELECT} WHERE t.user_id = $1 ORDER BY t.id`;

export async function listPasskeys(db: Queryable, userId: UserId): Promise<StoredPasskey[]> {
  return db.run<StoredPasskey>(LIST, [userId]);
}

const FIND = statement('passkey_find_locked')`${SELECT} WHERE t.user_id = $1 AND t.credential_id = $2 FOR UPDATE`;

/** The person's passkey with this credential, locked: its uses are checked one by one. Null for an unattested row. */
export async function findPasskeyLocked(tx: Tx, userId: UserId, credentialId: Buffer): Promise<StoredPasskey | null> {
  const row = await findOne<StoredPasskey & AttestedRow<'passkeys'>>(tx, FIND, [userId, credentialId]);
  return row !== null && attestedPasskeys.isAttested(tx, row) ? row : null;
}

const USE = statement('passkey_use')`UPDATE passkeys SET counter = $2, last_used_at = $3 WHERE id = $1`;

export async function usePasskey(tx: Tx, id: PasskeyId, counter: number, at: Date): Promise<void> {
  await tx.run(USE, [id, counter, at]);
}

const RENAME = statement('passkey_rename')`UPDATE passkeys SET name = $3 WHERE user_id = $1 AND id = $2 RETURNING 1`;

/** False if the person has no such passkey. */
export async function renamePasskey(tx: Tx, userId: UserId, id: PasskeyId, name: string): Promise<boolean> {
  return (await tx.run(RENAME, [userId, id, name])).length === 1;
}

const DELETE = statement('passkey_delete')`DELETE FROM passkeys WHERE user_id = $1 AND id = $2 RETURNING name`;

/** Its name; null if the person has no such passkey. */
export async function deletePasskey(tx: Tx, userId: UserId, id: PasskeyId): Promise<string | null> {
  const [row] = await attestedUsers.change(tx, [userId], () => tx.run<{ name: string }>(DELETE, [userId, id]));
  return row?.name ?? null;
}

const DELETE_ALL = statement('passkey_delete_all')`DELETE FROM passkeys WHERE user_id = $1`;

export async function deletePasskeys(tx: Tx, userId: UserId): Promise<void> {
  await attestedUsers.change(tx, [userId], () => tx.run(DELETE_ALL, [userId]));
}

const PUT_CHALLENGE = statement('passkey_challenge_put')`
  INSERT INTO passkey_challenges (challenge_sha256, purpose, subject, expires_at) VALUES ($1, $2, $3, $4)`;

/** A new challenge. Only its digest is stored. */
export async function createChallenge(tx: Tx, { purpose, subject }: ChallengeUse, at: Date): Promise<Buffer> {
  const { token, sha256 } = newToken();
  const expiresAt = new Date(at.getTime() + CHALLENGE_LIFE_MS);
  await tx.run(PUT_CHALLENGE, [sha256, purpose, subject, expiresAt]);
  return Buffer.from(token, 'base64url');
}

const USE_CHALLENGE = statement('passkey_challenge_use')`
  DELETE FROM passkey_challenges WHERE challenge_sha256 = $1 AND purpose = $2 AND subject = $3 AND expires_at > $4
  RETURNING 1`;

/** Uses the challenge up. False if it is unknown, used, expired, or for another purpose or subject. */
export async function useChallenge(tx: Tx, challenge: string, use: ChallengeUse, at: Date): Promise<boolean> {
  const sha256 = hashToken(challenge);
  return sha256 !== null && (await tx.run(USE_CHALLENGE, [sha256, use.purpose, use.subject, at])).length === 1;
}

export const deleteEndedChallenges = boundedDelete('passkey_challenge_delete_ended', {
  table: 'passkey_challenges',
  key: 'challenge_sha256',
  isOver: 'expires_at <= $1',
});
