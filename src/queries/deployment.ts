// Reads for which environment the database is.
import type { Queryable } from '../db/platform/database.ts';
import { findDeployment } from '../db/platform/deployment.ts';
import type { Environment } from '../domain/event.ts';

/** Null when nobody has migrated it for an environment. */
export async function findEnvironment(db: Queryable): Promise<Environment | null> {
  return (await findDeployment(db))?.environment ?? null;
}
