// Runs a command on the server's own configuration and database.
import { loadConfig } from '../config.ts';
import { openDatabase, type Database } from '../db/database.ts';

type Server = { readonly db: Database; readonly baseUrl: string };

/** What `run` returns. Throws what it throws, and when the configuration is not usable; the database is closed in any case. */
export async function onServer(run: (server: Server) => Promise<string>): Promise<string> {
  const { settings } = loadConfig(process.env);
  const db = openDatabase({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    poolSize: 1,
    statementTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    connectTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    onIdleError: () => undefined,
  });
  try {
    return await run({ db, baseUrl: settings.MALIPO_PUBLIC_URL.replace(/\/$/, '') });
  } finally {
    await db.close();
  }
}
