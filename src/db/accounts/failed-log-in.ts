// The failed log-ins of a person since their last one that succeeded: counted on the user, and shown by the next session.
import type { UserId } from '../../domain/ids.ts';
import type { FailedLogIns } from '../../domain/accounts/session.ts';
import { findOne, readCount, statement, type Queryable, type Tx } from '../platform/database.ts';

const NOTE = statement('failed_log_in_note')`
  UPDATE users SET failed_log_ins = failed_log_ins + 1, last_failed_at = $2, last_failed_address = $3 WHERE id = $1`;

export async function noteFailedLogIn(tx: Tx, id: UserId, at: Date, address: string | null): Promise<void> {
  await tx.run(NOTE, [id, at, address]);
}

const MOVE = statement('failed_log_in_move')`
  WITH ended AS (
    UPDATE users u SET failed_log_ins = 0, last_failed_at = NULL, last_failed_address = NULL
    FROM (SELECT * FROM users WHERE id = $1 FOR NO KEY UPDATE) AS before
    WHERE u.id = before.id RETURNING before.failed_log_ins, before.last_failed_at, before.last_failed_address)
  UPDATE sessions s SET failed_log_ins = e.failed_log_ins, last_failed_at = e.last_failed_at,
    last_failed_address = e.last_failed_address
  FROM ended e WHERE s.token_sha256 = $2 RETURNING s.failed_log_ins AS count`;

/** Notes on the new session what failed before it, and begins to count again; returns how many failed. */
export async function moveFailedLogIns(tx: Tx, id: UserId, tokenSha256: Buffer): Promise<number> {
  return readCount(tx, MOVE, [id, tokenSha256]);
}

const FIND = statement('failed_log_in_find')`
  SELECT failed_log_ins AS count, last_failed_at AS last_at, host(last_failed_address) AS last_address
  FROM sessions WHERE token_sha256 = $1 AND failed_log_ins > 0`;

/** What failed between the log-in of this session and the one before it; null: nothing. */
export async function findFailedLogIns(db: Queryable, tokenSha256: Buffer): Promise<FailedLogIns | null> {
  return findOne<FailedLogIns>(db, FIND, [tokenSha256]);
}
