// What somebody does in the database past the service: holds a lock, changes a row, makes it older.
import { Client } from 'pg';
import { DATABASE } from '../chaos/engines.ts';
import type { APPLICATION } from '../src/db/platform/access.ts';
import type { Stage } from './stage.ts';

type Row = Readonly<Record<string, unknown>>;

/** By PostgreSQL’s own account, past every trigger: what no account of the service may do. */
export async function change<Found extends Row>(stage: Stage, sql: string, values: readonly unknown[] = []) {
  const client = await connect(stage);
  try {
    await client.query('SET session_replication_role = replica');
    return (await client.query<Found>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** A transaction that somebody leaves open after this statement. Ends it as an operator does. */
export async function holdOpen(stage: Stage, sql: string, account?: typeof APPLICATION): Promise<() => Promise<void>> {
  const client = await connect(stage, account);
  client.on('error', () => undefined);
  await client.query('BEGIN');
  await client.query(sql);
  const [{ pid } = {}] = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
  return async () => {
    await change(stage, 'SELECT pg_terminate_backend($1)', [pid]);
    await client.end().catch(() => undefined);
  };
}

async function connect({ topology }: Stage, account?: typeof APPLICATION): Promise<Client> {
  const client = new Client({ connectionString: topology.postgres.server.urlFor(DATABASE, account) });
  await client.connect();
  return client;
}
