// A PostgreSQL server of one test, which the test stops, starts again, and sets back to an earlier moment.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/engines/process/ports.ts';
import { startPostgresServer, type PostgresServer } from '../../src/engines/postgres/server.ts';
import { freshFence } from './fresh-fence.ts';
import { queryAt } from './one-client.ts';
import { migrateAndStamp, openTestDatabase, runFolder, type TestDatabase } from './engines.ts';

export type OwnPostgres = TestDatabase & {
  start(): Promise<void>;
  /** Stops the server; its data stay. */
  halt(): Promise<void>;
  /** For a halted server: a copy of its data, which replaces an earlier one. */
  backUp(): void;
  /** For a halted server: discards its writes since the copy. */
  restore(): void;
  stop(): Promise<void>;
};

/** One database on a server of its own, in folders of this name. It is not dropped: its folders are removed after the run. */
export async function startOwnPostgres(name: string): Promise<OwnPostgres> {
  const port = await freePort();
  const fallbackDataDir = `${runFolder()}-${name}`;
  let server: PostgresServer;
  const start = async (): Promise<void> => {
    server = await startPostgresServer({
      dataDir: join(runFolder(), name),
      fallbackDataDir,
      port,
      settings: { fsync: 'off' },
      logFile: join(runFolder(), `${name}.log`),
    });
  };
  await start();
  const { ownerUrl, applicationUrl } = await server!.ensureAccounts('malipo');
  await migrateAndStamp(ownerUrl);
  await queryAt(server!.urlFor('malipo'), ...freshFence());
  const database = openTestDatabase(applicationUrl, server!.urlFor('malipo'));
  const copy = (from: string, to: string) => {
    rmSync(to, { recursive: true, force: true });
    // With their owner, which may be another account than that of the test.
    execFileSync('cp', ['-a', from, to]);
  };
  const backup = () => `${server.dataDir}-backup`;
  return {
    ...database,
    ownerUrl,
    start,
    halt: () => server.stop(),
    backUp: () => {
      copy(server.dataDir, backup());
    },
    restore: () => {
      copy(backup(), server.dataDir);
    },
    async stop() {
      await server.stop();
      rmSync(fallbackDataDir, { recursive: true, force: true });
      rmSync(backup(), { recursive: true, force: true });
    },
    drop: () => database.db.close(),
  };
}
