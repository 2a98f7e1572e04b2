// The work that is quarantined, for the service's staff.
import { listQuarantinedWork as list, type QuarantinedWork } from '../../db/work/backlog.ts';
import type { Queryable } from '../../db/platform/database.ts';

/** Payments and deliveries of all merchants whose workflow failed so often that it is tried once an hour; at most `limit`. */
export function listQuarantinedWork(db: Queryable, limit: number): Promise<QuarantinedWork[]> {
  return list(db, limit);
}
