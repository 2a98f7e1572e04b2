// Starts PostgreSQL on the data folder and port of its arguments, prints its number and URL and waits to be killed.
import { join } from 'node:path';
import { startPostgresServer } from '../../../src/engines/postgres/server.ts';

const [dataDir = '', port] = process.argv.slice(2);
const server = await startPostgresServer({
  dataDir,
  port: Number(port),
  settings: { fsync: 'off' },
  logFile: join(dataDir, 'postgres.log'),
  outlivesParent: true,
});
console.log(server.pid);
console.log(server.adminUrl);
setInterval(() => undefined, 60_000);
