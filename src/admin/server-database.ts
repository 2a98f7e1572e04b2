// Opens the server's own database for one staff command.
import { loadCommandConfig } from '../config.ts';
import { openDatabase, type Database } from '../db/database.ts';
import { createRowAttestor } from '../security/row-attestation.ts';
import type { KeyRing } from '../security/sealing.ts';

type Server = { readonly db: Database; readonly baseUrl: string; readonly attestationKeys: KeyRing };

/**
 * Returns what `run` returns. Throws what `run` throws, or a ConfigError when the server's configuration is not usable.
 * The database is closed in any case.
 */
export async function withServerDatabase(run: (server: Server) => Promise<string>): Promise<string> {
  const { settings } = loadCommandConfig(process.env);
  const db = openDatabase({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    poolSize: 1,
    statementTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    connectTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    onIdleError: () => undefined,
    attestor: createRowAttestor({
      environment: settings.MALIPO_ENVIRONMENT,
      keyRing: settings.MALIPO_ATTESTATION_KEYS,
      report: ({ table, key }) =>
        process.stderr.write(`the row ${key} of ${table} is not as a process of ours wrote it\n`),
    }),
  });
  try {
    const baseUrl = settings.MALIPO_PUBLIC_URL.replace(/\/$/, '');
    return await run({ db, baseUrl, attestationKeys: settings.MALIPO_ATTESTATION_KEYS });
  } finally {
    await db.close();
  }
}
