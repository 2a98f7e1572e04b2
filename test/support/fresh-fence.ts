// A fence that stays fresh in a database on which no server runs: tests write payments without one.

/** For a superuser. The fence counts as never written, so the first server of the database begins it. */
export function freshFence(): string[] {
  return [
    'BEGIN',
    // Without triggers: nobody else writes the fence without counting, or gives the database another id.
    'SET LOCAL session_replication_role = replica',
    // Copies of one template are different deployments.
    'UPDATE deployment SET id = gen_random_uuid()',
    `UPDATE fence SET lasts = '1 day', counter = 0, writer = gen_random_uuid(), written_at = clock_timestamp(),
       lsn = pg_current_wal_insert_lsn(), server_started_at = pg_postmaster_start_time(),
       system_identifier = (SELECT system_identifier FROM pg_control_system()), timeline = present_timeline(),
       database_oid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    'COMMIT',
  ];
}
