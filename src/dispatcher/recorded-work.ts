// Starts recorded work whose first start was lost, was over its limit, or found Temporal away.
import type { Database } from '../db/database.ts';
import { listUnstarted, markStarted } from '../db/work.ts';
import { WORK_KINDS, type Work, type WorkKind } from '../domain/work.ts';
import type { Log } from '../log.ts';
import type { TemporalClient } from '../temporal/client.ts';

export type RecordedWorkOptions = {
  readonly db: Database;
  readonly temporal: TemporalClient;
  readonly batchSize: number;
  /** Younger payments are being started by the process that recorded them. */
  readonly startGraceMs: number;
  readonly log: Log;
};

/** How many starts it tried, up to a batch of each kind. */
export async function startRecordedWork(options: RecordedWorkOptions): Promise<number> {
  if (!options.temporal.isConnected()) return 0;
  let tried = 0;
  for (const kind of WORK_KINDS) tried += await startKind(kind, options);
  return tried;
}

async function startKind(kind: WorkKind, { db, temporal, batchSize, startGraceMs, log }: RecordedWorkOptions) {
  // Nobody but the dispatcher starts deliveries.
  const graceMs = kind === 'delivery' ? 0 : startGraceMs;
  const unstarted = await listUnstarted(db, kind, new Date(Date.now() - graceMs), batchSize);
  // One that cannot be started must not keep the others from it.
  const started = await Promise.all(
    unstarted.map(async (work): Promise<Work | null> => {
      try {
        return (await temporal.start(work)) ? work : null;
      } catch (error) {
        log.error({ error, id: work.id }, 'a workflow could not be started');
        return null;
      }
    }),
  );
  await markStarted(
    db,
    kind,
    started.filter((work) => work !== null),
    new Date(),
  );
  return unstarted.length;
}
