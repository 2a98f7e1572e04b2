// How this connection reaches PostgreSQL, and the server's time.
import { findOne, statement, type Queryable } from './database.ts';

const READ = statement('transport_read')`
  SELECT clock_timestamp() AS now, current_setting('server_version_num')::int AS version,
         coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS is_encrypted`;

export type Transport = {
  readonly now: Date;
  /** As PostgreSQL counts: 150004 is 15.4. */
  readonly version: number;
  readonly isEncrypted: boolean;
};

export async function readTransport(db: Queryable): Promise<Transport> {
  const found = await findOne<Transport>(db, READ, []);
  if (found === null) throw new Error('PostgreSQL returned no row of its own settings');
  return found;
}
