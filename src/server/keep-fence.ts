// Keeps the fence of a server process, with its settings and a connection of its own.
import { openDatabase } from '../db/platform/database.ts';
import type { Log } from '../log.ts';
import type { Config } from '../settings/config.ts';
import { markerFile } from './fence-file.ts';
import { startFenceKeeper, type FenceKeeper } from './fence-keeper.ts';
import { createFencePlaces } from './fence-places.ts';
import type { Parts } from './server-parts.ts';

/** A statement that takes longer would leave no time for another try before the fence is no longer fresh. */
const TIMEOUT_MS = 2000;

export function keepFence(
  { settings }: Config,
  { schema, temporal, log }: Pick<Parts, 'schema' | 'temporal'> & { readonly log: Log },
): FenceKeeper {
  const { MALIPO_FENCE_MARKER_FILE: path, MALIPO_FENCE_IN_TEMPORAL: isInTemporal } = settings;
  const db = openDatabase({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    poolSize: 1,
    keptConnections: 1,
    statementTimeoutMs: TIMEOUT_MS,
    connectTimeoutMs: TIMEOUT_MS,
    onIdleError: (error) => {
      log.warn({ error }, 'a database connection was lost');
    },
  });
  const file = path === undefined ? null : markerFile(path);
  const places = createFencePlaces({ file, temporal: isInTemporal ? temporal : null, log });
  return startFenceKeeper({ db, places, isReadable: () => schema.fault() === null, log });
}
