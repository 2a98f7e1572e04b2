// One connection to a PostgreSQL server, for as long as something is done with it.
import { Client, type ClientConfig } from 'pg';

/** Connects, and closes the connection when `work` has ended. Rejects as the connecting, `work` or the closing does. */
export async function withConnection<Result>(
  config: ClientConfig,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(config);
  // A connection that breaks rejects the query under way; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
