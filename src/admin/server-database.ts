// Opens the server's own database for one staff command.
import { ConfigError, loadStaffSettings, type StaffNeeds, type StaffSettings } from '../settings/config.ts';
import { openDatabase, type Database } from '../db/platform/database.ts';
import type { Deployment } from '../domain/payments/operator-account.ts';
import type { StaffMember } from '../domain/accounts/staff.ts';
import { createRowAttestor, type RowAttestor } from '../security/row-attestation.ts';
import type { KeyRing } from '../security/sealing.ts';
import { findEnvironment } from '../db/platform/deployment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type StaffDatabase = { readonly db: Database; readonly baseUrl: string };
/** For a command that reads or writes rows that are attested. */
export type AttestedDatabase = StaffDatabase & { readonly attestationKeys: KeyRing };
/** For a command for which one of the staff logs in. */
export type ActingDatabase = AttestedDatabase & { readonly secretKeys: KeyRing };
/** The database of a command, and who of the staff logged in for it. */
export type By<Server> = Server & { readonly by: StaffMember };
/** For one that seals credentials of operators. */
export type SealingDatabase = ActingDatabase & { readonly operatorKeys: KeyRing; readonly deployment: Deployment };

/** What a command gets of the server, by what it needs. */
export type ServerFor = {
  readonly database: StaffDatabase;
  readonly 'database and keys': AttestedDatabase;
  readonly 'database and all keys': ActingDatabase;
  readonly 'database, all keys and operator keys': SealingDatabase;
};

/**
 * Returns what `run` returns. Throws what `run` throws, and a ConfigError when the settings are not usable or the database is
 * not for their environment: what is attested for one counts for nothing in the other. The database is closed in any case.
 */
export async function withServerDatabase<Needs extends StaffNeeds, Result>(
  environment: Environment,
  needs: Needs,
  run: (server: ServerFor[Needs]) => Promise<Result>,
): Promise<Result> {
  const settings: StaffSettings & Partial<StaffSettings<'database, all keys and operator keys'>> = loadStaffSettings(
    environment,
    needs,
  );
  const { MALIPO_ENVIRONMENT: own, MALIPO_ATTESTATION_KEYS: attestationKeys } = settings;
  const { MALIPO_SECRET_KEYS: secretKeys, MALIPO_OPERATOR_KEYS: operatorKeys } = settings;
  const db = openDatabase({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    poolSize: 1,
    statementTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    connectTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    onIdleError: () => undefined,
    ...(attestationKeys && { attestor: attestorWith(attestationKeys, own) }),
  });
  try {
    const stamped = await findEnvironment(db);
    if (stamped === null) throw new ConfigError('the database is not prepared: run `npm run migrate` first');
    if (stamped !== own) {
      throw new ConfigError(`MALIPO_ENVIRONMENT: is ${own}, and the database is for the ${stamped} environment`);
    }
    const baseUrl = settings.MALIPO_PUBLIC_URL.replace(/\/$/, '');
    const deployment = { environment: own, callbackUrl: settings.MALIPO_CALLBACK_URL ?? baseUrl };
    const keys = { attestationKeys, secretKeys, operatorKeys };
    // The settings that it needs are there: loading them has made sure.
    return await run({ db, baseUrl, ...keys, deployment } as ServerFor[Needs]);
  } finally {
    await db.close();
  }
}

function attestorWith(keyRing: KeyRing, environment: StaffSettings['MALIPO_ENVIRONMENT']): RowAttestor {
  return createRowAttestor({
    environment,
    keyRing,
    report: ({ table, key }) => process.stderr.write(`the row ${key} of ${table} is not as the service wrote it\n`),
  });
}
