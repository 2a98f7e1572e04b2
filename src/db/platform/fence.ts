// The row of the fence, and the restores that were found by it.
import type { DatabaseIdentity, Fence, FoundRestore, Marker, MarkerPlace, RestoreReason } from '../../domain/fence.ts';
import type { StaffProposalId } from '../../domain/ids.ts';
import { findOne, statement, type Queryable, type Tx } from './database.ts';

const PRESENT = `(SELECT system_identifier FROM pg_control_system()) AS system_identifier, present_timeline() AS timeline,
  (SELECT oid FROM pg_database WHERE datname = current_database()) AS database_oid`;

const FIND = statement('fence_find')`
  SELECT f.counter::float8 AS counter, f.writer, f.written_at, f.lsn::text AS lsn,
    (extract(epoch FROM clock_timestamp() - f.written_at) * 1000)::float8 AS age_ms,
    f.server_started_at IS NOT DISTINCT FROM pg_postmaster_start_time() AS is_of_this_start,
    CASE WHEN f.written_at IS NOT NULL THEN json_build_object('systemIdentifier', f.system_identifier::text,
      'timeline', f.timeline, 'databaseOid', f.database_oid::int8) END AS identity,
    json_build_object('systemIdentifier', p.system_identifier::text, 'timeline', p.timeline,
      'databaseOid', p.database_oid::int8) AS present,
    d.id::text AS deployment
  FROM fence f, deployment d, (SELECT ${PRESENT}) AS p`;

export type FenceRow = Fence & {
  readonly writer: string | null;
  readonly lsn: string | null;
  /** Since the last write; below zero when the clock was set back. */
  readonly ageMs: number | null;
  /** Whether PostgreSQL did not start again since the last write. */
  readonly isOfThisStart: boolean;
  readonly present: DatabaseIdentity;
  /** By which markers name the database. */
  readonly deployment: string;
};

export async function findFence(db: Queryable): Promise<FenceRow> {
  const found = await findOne<FenceRow>(db, FIND, []);
  if (found === null) throw new Error('the database has no fence, or no environment');
  return found;
}

const WRITTEN = `writer = $2, written_at = clock_timestamp(), lsn = pg_current_wal_insert_lsn(),
  server_started_at = pg_postmaster_start_time(), (system_identifier, timeline, database_oid) = (SELECT ${PRESENT})`;
const RETURNED = 'counter::float8 AS counter, written_at, lsn::text AS lsn';

const WRITE = statement('fence_write')`
  UPDATE fence SET counter = counter + 1, ${WRITTEN} WHERE counter = $1 RETURNING ${RETURNED}`;

/** Null, and nothing is written, if another process wrote the fence since it was read. */
export function writeFence(db: Queryable, counter: number, writer: string): Promise<Marker | null> {
  return findOne<Marker>(db, WRITE, [counter, writer]);
}

// Above every marker, so that all of them are written again.
const MOVE = statement('fence_move')`
  UPDATE fence SET counter = greatest(counter, $3) + 1, ${WRITTEN} WHERE counter = $1 RETURNING ${RETURNED}`;

/** Writes the fence above this marker. Null, and nothing is written, if another process wrote the fence since it was read. */
export function moveFence(
  tx: Tx,
  { counter }: Fence,
  { marker }: FoundRestore,
  writer: string,
): Promise<Marker | null> {
  return findOne<Marker>(tx, MOVE, [counter, writer, marker?.counter ?? 0]);
}

const INSERT = statement('restore_insert')`
  INSERT INTO restores
    (reason, found_at, counter, written_at, marker, marker_counter, marker_written_at, sessions_ended)
  VALUES ($1, clock_timestamp(), $2, $3, $4, $5, $6, $7) RETURNING id::text`;

/** From its commit on the service is in recovery. */
export async function insertRestore(
  tx: Tx,
  { reason, marker }: FoundRestore,
  { counter, writtenAt }: Fence,
  sessionsEnded: number,
): Promise<string> {
  const found = [marker?.place ?? null, marker?.counter ?? null, marker?.writtenAt ?? null];
  const row = await findOne<{ id: string }>(tx, INSERT, [reason, counter, writtenAt, ...found, sessionsEnded]);
  if (row === null) throw new Error('a restore was not recorded');
  return row.id;
}

export type OpenRestore = {
  readonly id: string;
  readonly reason: RestoreReason;
  readonly foundAt: Date;
  readonly writtenAt: Date | null;
  readonly marker: MarkerPlace | null;
  readonly markerWrittenAt: Date | null;
  readonly sessionsEnded: number;
};

const LIST_OPEN = statement('restore_list_open')`
  SELECT id::text, reason, found_at, written_at, marker, marker_written_at, sessions_ended FROM restores
  WHERE opened_at IS NULL ORDER BY restores.id DESC`;

/** The latest first. While there is one, the service is in recovery. */
export function listOpenRestores(db: Queryable): Promise<OpenRestore[]> {
  return db.run<OpenRestore>(LIST_OPEN, []);
}

const OPEN = statement('restore_open')`
  UPDATE restores SET opened_at = $1, proposal_id = $2 WHERE opened_at IS NULL RETURNING restores.id::text`;

/** Ends the recovery. The database refuses it unless two of the staff agreed on the latest restore. */
export async function openAfterRestores(tx: Tx, proposal: StaffProposalId, at: Date): Promise<string[]> {
  return (await tx.run<{ id: string }>(OPEN, [at, proposal])).map(({ id }) => id);
}

const MEASURE = statement('fence_measure')`
  SELECT coalesce(extract(epoch FROM clock_timestamp() - written_at), 0)::float8 AS age_seconds,
    EXISTS (SELECT FROM restores WHERE opened_at IS NULL) AS is_in_recovery FROM fence`;

export type FenceFigures = {
  /** Since the last write; 0 where there was none. */
  readonly ageSeconds: number;
  readonly isInRecovery: boolean;
};

export async function measureFence(db: Queryable): Promise<FenceFigures> {
  return (await findOne<FenceFigures>(db, MEASURE, [])) ?? { ageSeconds: 0, isInRecovery: false };
}
