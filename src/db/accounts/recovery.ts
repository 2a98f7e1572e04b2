// Rows of recoveries: requested by one of the staff, approved by another one, and used once by the person with a token.
import type { RecoveryNotice, RecoveryRequest } from '../../domain/accounts/recovery.ts';
import type { Staff } from '../../domain/accounts/staff.ts';
import type { MerchantId, RecoveryId, UserId } from '../../domain/ids.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import { insertion } from '../platform/columns.ts';
import { findOne, statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';
import { personColumn } from './names.ts';

const attestedRecoveries = attestedTable('recoveries');

const DELETE_OF_USER = statement('recovery_delete_of_user')`DELETE FROM recoveries WHERE user_id = $1`;
const insert = insertion('recovery_insert', 'recoveries', 'id, user_id, reason, requested_by, created_at, expires_at');

export type NewRecovery = Pick<RecoveryRequest, 'id' | 'reason' | 'requestedBy' | 'createdAt' | 'expiresAt'> & {
  readonly userId: UserId;
};

/** Stores the person's one recovery. An earlier one is gone, and its token is invalid. Lock the user before. */
export async function replaceRecovery(tx: Tx, recovery: NewRecovery): Promise<void> {
  await tx.run(DELETE_OF_USER, [recovery.userId]);
  await insert(tx, recovery);
  await attestedRecoveries.attest(tx, [recovery.id]);
}

const SELECT_REQUEST = `SELECT ${attestedRecoveries.columns}, ${personColumn('u')} AS person, t.reason
  FROM recoveries t JOIN users u ON u.id = t.user_id
  WHERE t.approved_at IS NULL`;

/** Throws `permission_denied` for a row that no process of ours wrote. */
function toRequest(db: Queryable, row: RecoveryRequest & AttestedRow<'recoveries'>): RecoveryRequest {
  attestedRecoveries.require(db, [row]);
  const { id, person, reason, requestedBy, createdAt, expiresAt } = row;
  return { id, person, reason, requestedBy, createdAt, expiresAt };
}

const LIST_REQUESTS = statement('recovery_list_requests')`
  ${SELECT_REQUEST} AND t.expires_at > $1 ORDER BY t.id LIMIT $2`;

/** The recoveries that wait for an approval, oldest first, at most `limit`. */
export async function listRecoveryRequests(db: Queryable, at: Date, limit: number): Promise<RecoveryRequest[]> {
  const rows = await db.run<RecoveryRequest & AttestedRow<'recoveries'>>(LIST_REQUESTS, [at, limit]);
  return rows.map((row) => toRequest(db, row));
}

const FIND_REQUEST_LOCKED = statement('recovery_find_request_locked')`
  ${SELECT_REQUEST} AND t.id = $1 AND t.expires_at > $2 FOR UPDATE OF t`;

/** The recovery if it waits for an approval, locked: until this transaction ends nobody else approves or replaces it. */
export async function findRecoveryRequestLocked(tx: Tx, id: RecoveryId, at: Date): Promise<RecoveryRequest | null> {
  const row = await findOne<RecoveryRequest & AttestedRow<'recoveries'>>(tx, FIND_REQUEST_LOCKED, [id, at]);
  return row && toRequest(tx, row);
}

const APPROVE = statement('recovery_approve')`
  UPDATE recoveries SET approved_by = $2, approved_at = $3, token_sha256 = $4, expires_at = $5 WHERE id = $1`;

export type RecoveryApproval = {
  readonly by: Staff;
  readonly at: Date;
  readonly tokenSha256: Buffer;
  readonly expiresAt: Date;
};

/** Gives the recovery its token. The database refuses the person who requested it. */
export async function approveRecovery(tx: Tx, id: RecoveryId, approval: RecoveryApproval): Promise<void> {
  const { by, at, tokenSha256, expiresAt } = approval;
  await attestedRecoveries.change(tx, [id], () => tx.run(APPROVE, [id, by, at, tokenSha256, expiresAt]));
}

const FIND = statement('recovery_find')`
  SELECT ${attestedRecoveries.columns} FROM recoveries t WHERE t.token_sha256 = $1 AND t.expires_at > $2`;

type UsableRow = AttestedRow<'recoveries'> & { readonly userId: UserId };

/** Null, too, for a row that no process of ours wrote. */
async function findUserBy(db: Queryable, query: Statement, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  const row = await findOne<UsableRow>(db, query, [tokenSha256, at]);
  return row !== null && attestedRecoveries.isAttested(db, row) ? row.userId : null;
}

/** The person whose token this is; null when the token is unknown, used, replaced or expired. */
export function findRecovery(db: Queryable, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  return findUserBy(db, FIND, tokenSha256, at);
}

const USE = statement('recovery_use')`
  DELETE FROM recoveries t WHERE t.token_sha256 = $1 AND t.expires_at > $2 RETURNING ${attestedRecoveries.columns}`;

/** Like `findRecovery`, and uses the token up. Of two people who present it at the same moment, only one succeeds. */
export function useRecovery(tx: Tx, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  return findUserBy(tx, USE, tokenSha256, at);
}

export const deleteEndedRecoveries = boundedDelete('recovery_delete_ended', {
  table: 'recoveries',
  key: 'id',
  isOver: 'expires_at <= $1',
});

// The audit log is what is told: it is never changed.
const LIST_NOTICES = statement('recovery_list_notices')`
  SELECT split_part(a.action, '.', 2) AS step, ${personColumn('u')} AS person, a.staff, a.created_at AS at
  FROM audit_entries a JOIN users u ON u.id = a.subject_id
  WHERE a.merchant_id = $1 AND a.action LIKE 'recovery.%' AND a.outcome = 'done' AND a.created_at > $2
    AND a.subject_id = coalesce($3, a.subject_id)
  ORDER BY a.id DESC LIMIT $4`;

/** What happened to accounts of the merchant's people by recovery, newest first. */
export async function listRecoveryNotices(
  db: Queryable,
  merchantId: MerchantId,
  { since, about, limit }: { readonly since: Date; readonly about: UserId | null; readonly limit: number },
): Promise<RecoveryNotice[]> {
  return db.run<RecoveryNotice>(LIST_NOTICES, [merchantId, since, about, limit]);
}
