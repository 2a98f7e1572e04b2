// Rows of recoveries: agreed by two of the staff, and used once by the person with a token.
import type { RecoveryNotice } from '../../domain/accounts/recovery.ts';
import type { MerchantId, RecoveryId, StaffProposalId, UserId } from '../../domain/ids.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import { insertion } from '../platform/columns.ts';
import { findOne, statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';
import { personColumn } from './names.ts';

const attestedRecoveries = attestedTable('recoveries');

const DELETE_OF_USER = statement('recovery_delete_of_user')`DELETE FROM recoveries WHERE user_id = $1`;
const insert = insertion(
  'recovery_insert',
  'recoveries',
  'id, user_id, proposal_id, token_sha256, created_at, expires_at',
);

export type NewRecovery = {
  readonly id: RecoveryId;
  readonly userId: UserId;
  readonly proposalId: StaffProposalId;
  readonly tokenSha256: Buffer;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** Deletes an earlier recovery of the person, so its token is invalid. Lock the user first. */
export async function deleteRecoveryOf(tx: Tx, userId: UserId): Promise<void> {
  await tx.run(DELETE_OF_USER, [userId]);
}

/**
 * Stores the person's only recovery. An earlier one is deleted, so its token is invalid. The database refuses a
 * recovery on which no two of the staff agreed. Lock the user first.
 */
export async function replaceRecovery(tx: Tx, recovery: NewRecovery): Promise<void> {
  await deleteRecoveryOf(tx, recovery.userId);
  await insert(tx, recovery);
  await attestedRecoveries.attest(tx, [recovery.id]);
}

const FIND = statement('recovery_find')`
  SELECT ${attestedRecoveries.columns} FROM recoveries t WHERE t.token_sha256 = $1 AND t.expires_at > $2`;

type UsableRow = AttestedRow<'recoveries'> & { readonly userId: UserId };

/** Null also for an unattested row. */
async function findUserBy(db: Queryable, query: Statement, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  const row = await findOne<UsableRow>(db, query, [tokenSha256, at]);
  return row !== null && attestedRecoveries.isAttested(db, row) ? row.userId : null;
}

/** The person with this token; null if the token is unknown, used, replaced or expired. */
export function findRecovery(db: Queryable, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  return findUserBy(db, FIND, tokenSha256, at);
}

const USE = statement('recovery_use')`
  DELETE FROM recoveries t WHERE t.token_sha256 = $1 AND t.expires_at > $2 RETURNING ${attestedRecoveries.columns}`;

/** Like `findRecovery`, and uses the token up. Of two concurrent uses, one succeeds. */
export function useRecovery(tx: Tx, tokenSha256: Buffer, at: Date): Promise<UserId | null> {
  return findUserBy(tx, USE, tokenSha256, at);
}

export const deleteEndedRecoveries = boundedDelete('recovery_delete_ended', {
  table: 'recoveries',
  key: 'id',
  isOver: 'expires_at <= $1',
});

// The notices come from the audit log, which never changes.
const LIST_NOTICES = statement('recovery_list_notices')`
  SELECT split_part(a.action, '.', 2) AS step, ${personColumn('u')} AS person, a.staff, a.created_at AS at
  FROM audit_entries a JOIN users u ON u.id = a.subject_id
  WHERE a.merchant_id = $1 AND a.action LIKE 'recovery.%' AND a.outcome = 'done' AND a.created_at > $2
    AND a.subject_id = coalesce($3, a.subject_id)
  ORDER BY a.id DESC LIMIT $4`;

/** The recoveries of accounts of the merchant's people, newest first. */
export async function listRecoveryNotices(
  db: Queryable,
  merchantId: MerchantId,
  { since, about, limit }: { readonly since: Date; readonly about: UserId | null; readonly limit: number },
): Promise<RecoveryNotice[]> {
  return db.run<RecoveryNotice>(LIST_NOTICES, [merchantId, since, about, limit]);
}
