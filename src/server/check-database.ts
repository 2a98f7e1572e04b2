// Checks, before a server does anything, the environment of its database and the rights of its account.
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../settings/config.ts';
import type { Database } from '../db/platform/database.ts';
import { findEnvironment } from '../db/platform/deployment.ts';
import { findExcessRights } from '../db/platform/excess-rights.ts';
import type { Environment } from '../domain/event.ts';
import type { Log } from '../log.ts';

const RETRY_EVERY_MS = 1000;
/** How many excess rights are named: the owner of the tables has thousands. */
const NAMED = 12;
/** SQLSTATE classes that waiting does not cure: a refused log-in, a missing database, a missing right. */
const LASTING = /^(28|3D|42)[0-9A-Z]{3}$/;

/**
 * Resolves when the database confirms this environment. An unavailable database is tried again: nothing can be recorded
 * meanwhile. Throws a ConfigError if the database is for the other environment or for none. If the account has more
 * rights than the application needs, or settings of its own, it throws in the live environment and logs in the other.
 */
export async function checkEnvironment(db: Database, environment: Environment, log: Log): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      compare(await findEnvironment(db), environment);
      return;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (LASTING.test(code)) throw error;
      if (isFirst) log.warn({ error }, 'the database is unavailable; the start waits for it');
    }
    await sleep(RETRY_EVERY_MS);
  }
}

export function otherEnvironment(own: Environment, stamped: Environment): ConfigError {
  return new ConfigError(`MALIPO_ENVIRONMENT: is ${own}, and the database is for the ${stamped} environment`);
}

function compare(stamped: Environment | null, environment: Environment): void {
  if (stamped === null) throw new ConfigError('the database is not prepared: run `npm run migrate` first');
  if (stamped !== environment) throw otherEnvironment(environment, stamped);
}

/**
 * Throws a ConfigError when, in the live environment, the account may more than the application needs, or has settings of its own; in
 * the other environment the log says it. Takes a database whose schema fits: another version has other tables.
 */
export async function checkAccount(db: Database, environment: Environment, log: Log): Promise<void> {
  const excess = await findExcessRights(db);
  if (excess.length === 0) return;
  const named = excess.length > NAMED ? [...excess.slice(0, NAMED), `${excess.length - NAMED} more`] : excess;
  const problem = `MALIPO_DATABASE_URL: the account has more rights than the application needs: ${named.join('; ')}`;
  if (environment === 'live') throw new ConfigError(`${problem} (\`npm run accounts\` and \`npm run migrate\`)`);
  log.warn(
    { excess: named },
    'the database account has more rights than the application needs: no live server starts with it',
  );
}
