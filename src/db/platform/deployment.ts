// Which environment the database is for.
import { DatabaseError } from 'pg';
import type { Environment } from '../../domain/event.ts';
import { findOne, statement, type Queryable } from './database.ts';

const STAMP = statement('deployment_stamp')`
  INSERT INTO deployment (environment, stamped_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`;

/** Takes the account that owns the database. A database that is stamped already stays as it is. */
export async function stampEnvironment(db: Queryable, environment: Environment, at: Date): Promise<void> {
  await db.run(STAMP, [environment, at]);
}

const FIND = statement('deployment_find')`SELECT (SELECT environment FROM public.deployment) AS environment`;

const UNDEFINED_TABLE = '42P01';

/** Null when nobody has migrated the database for an environment. */
export async function findEnvironment(db: Queryable): Promise<Environment | null> {
  try {
    return (await findOne<{ environment: Environment | null }>(db, FIND, []))?.environment ?? null;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === UNDEFINED_TABLE) return null;
    throw error;
  }
}
