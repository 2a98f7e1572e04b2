// Connections to PostgreSQL beside all pools.
import { Client } from 'pg';

/** Runs `work` on a connection of its own to this address. */
export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs the statements one after the other on a connection of their own. Returns the rows of the last one. */
export function queryAt(url: string, ...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  return withClient(url, async (client) => {
    let rows: Record<string, unknown>[] = [];
    for (const sql of statements) ({ rows } = await client.query<Record<string, unknown>>(sql));
    return rows;
  });
}
