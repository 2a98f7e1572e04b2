// A test file that prints which engines it has, makes a database and a setting, leaves both, and ends when its input does.
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { postgres, temporal } from '../../support/engines.ts';

describe('tests that leave something', () => {
  it('print their engines', async () => {
    const server = await postgres();
    const client = new Client({ connectionString: server.adminUrl });
    await client.connect();
    const { rows } = await client.query<{ found: string[]; setting: string }>(
      `SELECT (SELECT array_agg(datname::text) FROM pg_database) AS found, current_setting('log_min_messages') AS setting`,
    );
    await client.query('CREATE DATABASE left_by_a_run');
    await client.query(`ALTER SYSTEM SET log_min_messages = 'error'`);
    await client.query('SELECT pg_reload_conf()');
    await client.end();
    console.log(JSON.stringify({ pids: [server.pid, (await temporal()).pid], ...rows[0] }));
    await text(process.stdin);
  });
});
