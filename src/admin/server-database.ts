// Opens the server's own database for one staff command.
import { ConfigError, loadStaffSettings, type StaffSettings } from '../settings/config.ts';
import { openDatabase, type Database } from '../db/platform/database.ts';
import { coverageOf, type Coverage } from '../domain/payments/operator-catalogue.ts';
import { createRowAttestor } from '../security/row-attestation.ts';
import type { KeyRing } from '../security/sealing.ts';
import { findEnvironment } from '../db/platform/deployment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type StaffDatabase = { readonly db: Database; readonly baseUrl: string };
/** For a command that reads or writes rows that are attested. */
export type AttestedDatabase = StaffDatabase & { readonly attestationKeys: KeyRing };
/** For a command that concerns the operators that the deployment reaches, too. */
export type ServedDatabase = AttestedDatabase & { readonly coverage: Coverage };
/** Null: the settings do not say. */
export type MaybeServedDatabase = AttestedDatabase & { readonly coverage: Coverage | null };

/**
 * Returns what `run` returns. Throws what `run` throws, and a ConfigError when the settings are not usable or the database is
 * not for their environment: what is attested for one counts for nothing in the other. The database is closed in any case.
 */
export async function withAttestedDatabase<Result>(
  environment: Environment,
  run: (server: AttestedDatabase) => Promise<Result>,
): Promise<Result> {
  return withKeys(loadStaffSettings(environment, 'database and keys'), run);
}

/** The same for a command that needs to know what the deployment reaches. */
export async function withServedDatabase<Result>(
  environment: Environment,
  run: (server: ServedDatabase) => Promise<Result>,
): Promise<Result> {
  const settings = loadStaffSettings(environment, 'database, keys and operators');
  const coverage = coverageOf(settings.MALIPO_MTN_MOMO_TARGET_ENVIRONMENT);
  return withKeys(settings, (server) => run({ ...server, coverage }));
}

/** The same for a command that says more where the server's settings name what it reaches. */
export async function withCoverageIfSet<Result>(
  environment: Environment,
  run: (server: MaybeServedDatabase) => Promise<Result>,
): Promise<Result> {
  const settings = loadStaffSettings(environment, 'database, keys and operators if set');
  const { MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: target } = settings;
  const coverage = target === undefined ? null : coverageOf(target);
  return withKeys(settings, (server) => run({ ...server, coverage }));
}

/** The same for a command that has nothing to do with people: it needs no keys. */
export async function withStaffDatabase<Result>(
  environment: Environment,
  run: (server: StaffDatabase) => Promise<Result>,
): Promise<Result> {
  return withOpenDatabase(loadStaffSettings(environment, 'database'), undefined, run);
}

async function withKeys<Result>(
  settings: StaffSettings<'database and keys'>,
  run: (server: AttestedDatabase) => Promise<Result>,
): Promise<Result> {
  const { MALIPO_ENVIRONMENT: environment, MALIPO_ATTESTATION_KEYS: attestationKeys } = settings;
  const attestor = createRowAttestor({
    environment,
    keyRing: attestationKeys,
    report: ({ table, key }) => process.stderr.write(`the row ${key} of ${table} is not as the service wrote it\n`),
  });
  return withOpenDatabase(settings, attestor, (server) => run({ ...server, attestationKeys }));
}

async function withOpenDatabase<Result>(
  settings: StaffSettings,
  attestor: ReturnType<typeof createRowAttestor> | undefined,
  run: (server: StaffDatabase) => Promise<Result>,
): Promise<Result> {
  const db = openDatabase({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    poolSize: 1,
    statementTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    connectTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    onIdleError: () => undefined,
    ...(attestor && { attestor }),
  });
  try {
    const [own, stamped] = [settings.MALIPO_ENVIRONMENT, await findEnvironment(db)];
    if (stamped === null) throw new ConfigError('the database is not prepared: run `npm run migrate` first');
    if (stamped !== own) {
      throw new ConfigError(`MALIPO_ENVIRONMENT: is ${own}, and the database is for the ${stamped} environment`);
    }
    return await run({ db, baseUrl: settings.MALIPO_PUBLIC_URL.replace(/\/$/, '') });
  } finally {
    await db.close();
  }
}
