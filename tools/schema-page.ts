// The page docs/schema.sql: the schema of a new database, from PostgreSQL's catalogue.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { migrate } from '../src/db/platform/migrate.ts';
import { freePort } from '../src/engines/process/ports.ts';
import { withConnection } from '../src/engines/postgres/connection.ts';
import { startPostgresServer } from '../src/engines/postgres/server.ts';
import { dumpSchema } from './dump-schema.ts';

const NOTICE = `-- Generated from a new database by \`npm run docs\`; do not edit. The sources are the files of src/db/schema.

`;

export async function schemaPage(client: ClientBase): Promise<string> {
  return NOTICE + (await dumpSchema(client));
}

/** Starts a separate PostgreSQL server for it, and removes the server's data. */
export async function schemaOfNewDatabase(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'malipo-docs-'));
  const server = await startPostgresServer({
    dataDir: join(folder, 'postgres'),
    fallbackDataDir: `${folder}-postgres`,
    port: await freePort(),
    settings: { fsync: 'off' },
    logFile: join(folder, 'postgres.log'),
  });
  try {
    const { ownerUrl } = await server.ensureAccounts('malipo');
    await migrate(ownerUrl);
    return await withConnection({ connectionString: ownerUrl }, schemaPage);
  } finally {
    await server.stop();
    for (const data of [folder, `${folder}-postgres`]) await rm(data, { recursive: true, force: true });
  }
}
