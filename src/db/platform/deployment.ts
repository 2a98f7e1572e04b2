// The environment of the database.
import { DatabaseError } from 'pg';
import type { Environment } from '../../domain/event.ts';
import { findOne, statement, type Queryable } from './database.ts';

const STAMP = statement('deployment_stamp')`
  INSERT INTO deployment (environment, stamped_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`;

/** Requires the account that owns the database. A stamped database stays unchanged. */
export async function stampEnvironment(db: Queryable, environment: Environment, at: Date): Promise<void> {
  await db.run(STAMP, [environment, at]);
}

const FIND = statement('deployment_find')`SELECT (SELECT environment FROM public.deployment) AS environment`;

const UNDEFINED_TABLE = '42P01';

/** Null if the database was not migrated for an environment. */
export async function findEnvironment(db: Queryable): Promise<Environment | null> {
  try {
    return (await findOne<{ environment: Environment | null }>(db, FIND, []))?.environment ?? null;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === UNDEFINED_TABLE) return null;
    throw error;
  }
}
