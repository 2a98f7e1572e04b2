// One connection to a PostgreSQL server, for the duration of some work.
import { Client, type ClientConfig } from 'pg';

/** Connects, and closes the connection after `work`. Rejects if connecting, `work` or closing does. */
export async function withConnection<Result>(
  config: ClientConfig,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(config);
  // A broken connection rejects its query; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
