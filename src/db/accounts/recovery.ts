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

/** An earlier recovery of the person is gone, and its token is invalid. Lock the user before. */
export async function deleteRecoveryOf(tx: Tx, userId: UserId): Promise<void> {
  await tx.run(DELETE_OF_USER, [userId]);
}

/**
 * Stores the person's one recovery. An earlier one is gone, and its token is invalid. The database refuses one on which no two of the
 * staff agreed. Lock the user before.
 */
export async function replaceRecovery(tx: Tx, recovery: NewRecovery): Promise<void> {
  await deleteRecoveryOf(tx, recovery.userId);
  await insert(tx, recovery);
  await attestedRecoveries.attest(tx, [recovery.id]);
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
