// Rows of sessions: the digest of the token, the person, the merchant, and when the session ends.
import { newId, type MerchantId, type SessionId, type UserId } from '../../domain/ids.ts';
import { notAuthenticated, type Person } from '../../domain/accounts/member.ts';
import { sessionEndsAt, type ListedSession, type Session } from '../../domain/accounts/session.ts';
import { newToken, type NewToken } from '../../security/token.ts';
import { HAS_SECOND_FACTOR } from './second-factor.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import { insertion } from '../platform/columns.ts';
import { readCount, statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';

const attestedSessions = attestedTable('sessions');
const attestedMembers = attestedTable('members');

const insert = insertion(
  'session_insert',
  'sessions',
  `id, token_sha256, merchant_id, user_id, created_at, last_used_at, verified_at, expires_at, second_factor_at, address,
   user_agent`,
);

type Member = Pick<Person, 'merchantId' | 'userId'>;
type Browser = Pick<ListedSession, 'address' | 'userAgent'>;

export type NewSession = Pick<Session, 'id' | 'tokenSha256' | 'createdAt' | 'expiresAt'> &
  Member &
  Pick<Person, 'secondFactorAt'> &
  Browser;

/** The log-in counts as the first verification of the person. */
export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  const { id, createdAt } = session;
  await insert(tx, { ...session, lastUsedAt: createdAt, verifiedAt: createdAt });
  await attestedSessions.attest(tx, [id]);
}

// Membership, roles and second factor are read at every request, so that a change applies from the next request on.
const FIND = statement('session_find')`
  SELECT ${attestedSessions.columns}, t.last_used_at, c.currency AS merchant_currency, c.name AS merchant_name, m.roles,
         m.approver_since, m.removed_at, m.attestation AS member_attestation, u.name, u.email,
         ${HAS_SECOND_FACTOR} AS has_second_factor, u.lost_second_factor, u.recovered_at
  FROM sessions t
    JOIN members m ON m.merchant_id = t.merchant_id AND m.user_id = t.user_id AND m.removed_at IS NULL
    JOIN users u ON u.id = t.user_id
    JOIN merchants c ON c.id = t.merchant_id
  WHERE t.token_sha256 = $1`;

type SessionAndMember = Omit<Session, 'person'> &
  Person &
  AttestedRow<'sessions'> &
  Omit<AttestedRow<'members'>, 'attestation'> & { readonly memberAttestation: string | null };

/** The open session with this token. Null also if session or member is unattested. */
export async function findSession(db: Queryable, tokenSha256: Buffer, at: Date): Promise<Session | null> {
  const [row] = await db.run<SessionAndMember>(FIND, [tokenSha256]);
  if (row === undefined) return null;
  const areAttested =
    attestedSessions.isAttested(db, row) &&
    attestedMembers.isAttested(db, { ...row, attestation: row.memberAttestation });
  const session = areAttested ? toSession(row) : null;
  return session && sessionEndsAt(session) > at ? session : null;
}

const TOUCH = statement('session_touch')`
  UPDATE sessions SET last_used_at = $2 WHERE token_sha256 = $1 AND last_used_at < $2`;

export async function touchSession(db: Queryable, tokenSha256: Buffer, at: Date): Promise<void> {
  await db.run(TOUCH, [tokenSha256, at]);
}

const FIND_ID = statement('session_find_id')`SELECT id FROM sessions WHERE token_sha256 = $1`;

/** Runs a statement on the session's row, verified under its lock. Throws `permission_denied` if the session ended. */
async function changeSession(tx: Tx, tokenSha256: Buffer, query: Statement, values: readonly unknown[]): Promise<void> {
  const [session] = await tx.run<{ id: SessionId }>(FIND_ID, [tokenSha256]);
  const change = () => tx.run(query, [tokenSha256, ...values]);
  const rows = session ? await attestedSessions.change(tx, [session.id], change) : [];
  if (rows.length === 0) throw notAuthenticated('the session has ended');
}

const RENEW = statement('session_renew')`
  UPDATE sessions SET token_sha256 = $2, last_used_at = $3, second_factor_at = $4, verified_at = $3
  WHERE token_sha256 = $1 RETURNING 1`;

/** Replaces the token of the session after a verification. Throws `permission_denied` if the session ended. */
export async function renewSession(
  tx: Tx,
  tokenSha256: Buffer,
  { at, secondFactorAt }: { readonly at: Date; readonly secondFactorAt: Date | null },
): Promise<NewToken> {
  const renewed = newToken();
  await changeSession(tx, tokenSha256, RENEW, [renewed.sha256, at, secondFactorAt]);
  return renewed;
}

const MOVE = statement('session_move')`
  WITH ended AS (DELETE FROM sessions WHERE token_sha256 = $1 RETURNING *)
  INSERT INTO sessions (id, token_sha256, merchant_id, last_used_at, user_id, created_at, verified_at, expires_at, second_factor_at,
                        address, user_agent, failed_log_ins, last_failed_at, last_failed_address)
  SELECT $2, $3, $4, $5, user_id, created_at, verified_at, expires_at, second_factor_at,
         address, user_agent, failed_log_ins, last_failed_at, last_failed_address
  FROM ended RETURNING 1`;

/**
 * Ends the session and opens one of the same person at another merchant, with the same times of log-in and
 * verification. Of two concurrent moves one succeeds. Throws `permission_denied` if the session ended.
 */
export async function moveSession(
  tx: Tx,
  tokenSha256: Buffer,
  { merchantId, at }: { readonly merchantId: MerchantId; readonly at: Date },
): Promise<NewToken> {
  const opened = newToken();
  const id = newId('ses', at.getTime());
  await changeSession(tx, tokenSha256, MOVE, [id, opened.sha256, merchantId, at]);
  await attestedSessions.attest(tx, [id]);
  return opened;
}

const DELETE = statement('session_delete')`DELETE FROM sessions WHERE token_sha256 = $1`;

export async function deleteSession(tx: Tx, tokenSha256: Buffer): Promise<void> {
  await tx.run(DELETE, [tokenSha256]);
}

const DELETE_ALL = statement('session_delete_all')`
  WITH ended AS (DELETE FROM sessions RETURNING 1) SELECT count(*)::int AS count FROM ended`;

/** Of everybody; returns how many. */
export function deleteAllSessions(tx: Tx): Promise<number> {
  return readCount(tx, DELETE_ALL, []);
}

const DELETE_OF_USER = statement('session_delete_of_user')`
  DELETE FROM sessions WHERE user_id = $1 AND token_sha256 IS DISTINCT FROM $2`;

/** Ends every session of the person, at every merchant, except the one with the token `kept`, if given. */
export async function deleteSessionsOfUser(tx: Tx, userId: UserId, kept: Buffer | null): Promise<void> {
  await tx.run(DELETE_OF_USER, [userId, kept]);
}

export type SessionRow = Pick<Session, 'id' | 'tokenSha256' | 'createdAt' | 'lastUsedAt' | 'expiresAt'> & Browser;

const LIST = statement('session_list')`
  SELECT id, token_sha256, created_at, last_used_at, expires_at, host(address) AS address, user_agent
  FROM sessions WHERE merchant_id = $1 AND user_id = $2 AND expires_at > $4 ORDER BY last_used_at DESC, id LIMIT $3`;

/** The member's unexpired sessions at `at`, most recently used first; some may have ended by idle time. */
export async function listSessions(
  db: Queryable,
  { merchantId, userId }: Member,
  { limit, at }: { readonly limit: number; readonly at: Date },
): Promise<SessionRow[]> {
  return db.run<SessionRow>(LIST, [merchantId, userId, limit, at]);
}

const DELETE_BY_ID = statement('session_delete_by_id')`
  DELETE FROM sessions WHERE merchant_id = $1 AND user_id = $2 AND id = $3 RETURNING 1`;

/** False if the member has no session with this id. */
export async function deleteSessionById(tx: Tx, { merchantId, userId }: Member, id: SessionId): Promise<boolean> {
  return (await tx.run(DELETE_BY_ID, [merchantId, userId, id])).length === 1;
}

const DELETE_OTHERS = statement('session_delete_others')`
  DELETE FROM sessions WHERE merchant_id = $1 AND user_id = $2 AND token_sha256 IS DISTINCT FROM $3 RETURNING 1`;

/** Ends the member's sessions at the merchant except the one with the token `kept`, if given; returns how many. */
export async function deleteMemberSessions(
  tx: Tx,
  { merchantId, userId }: Member,
  kept: Buffer | null,
): Promise<number> {
  return (await tx.run(DELETE_OTHERS, [merchantId, userId, kept])).length;
}

const DELETE_LEAST_USED = statement('session_delete_least_used')`
  DELETE FROM sessions WHERE id IN (
    SELECT id FROM sessions WHERE merchant_id = $1 AND user_id = $2 AND expires_at > $4
    ORDER BY last_used_at DESC, id DESC OFFSET $3)
  RETURNING 1`;

/**
 * Ends the member's unexpired sessions at the merchant except the `kept` most recently used ones, at `at`; returns how
 * many. The user is locked, so that each of several log-ins sees the sessions of the others.
 */
export async function deleteLeastUsedSessions(
  tx: Tx,
  { merchantId, userId }: Member,
  { kept, at }: { readonly kept: number; readonly at: Date },
): Promise<number> {
  return (await tx.run(DELETE_LEAST_USED, [merchantId, userId, kept, at])).length;
}

const LIST_OF_USER = statement('session_list_of_user')`SELECT id FROM sessions WHERE user_id = $1 ORDER BY id`;
const FORGET_SECOND_FACTOR = statement('session_forget_second_factor')`
  UPDATE sessions SET second_factor_at = NULL WHERE id = $1`;

/** Marks no session of the person as verified by a second factor. Called when the factor is removed. */
export async function forgetSecondFactor(tx: Tx, userId: UserId): Promise<void> {
  for (const { id } of await tx.run<{ id: SessionId }>(LIST_OF_USER, [userId])) {
    await attestedSessions.change(tx, [id], () => tx.run(FORGET_SECOND_FACTOR, [id]));
  }
}

export const deleteEndedSessions = boundedDelete('session_delete_ended', {
  table: 'sessions',
  key: 'token_sha256',
  isOver: 'expires_at <= $1',
});

function toSession(row: SessionAndMember): Session {
  const { id, tokenSha256, name, email, merchantName, createdAt, lastUsedAt, expiresAt } = row;
  const { userId, merchantId, merchantCurrency, roles } = row;
  const { hasSecondFactor, lostSecondFactor, recoveredAt, secondFactorAt, verifiedAt } = row;
  const verified = { hasSecondFactor, lostSecondFactor, recoveredAt, secondFactorAt, verifiedAt };
  const person = { userId, merchantId, merchantCurrency, roles, ...verified };
  return { id, tokenSha256, person, name, email, merchantName, createdAt, lastUsedAt, expiresAt };
}
