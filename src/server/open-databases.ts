// Opens the connections of a server to its database: those of its requests and activities, and those of its dispatcher.
import type { Config } from '../settings/config.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../db/platform/database.ts';
import type { Log } from '../log.ts';
import { notify } from '../db/platform/listener.ts';
import { createRowAttestor } from '../security/row-attestation.ts';
import { createDispatcherWake, type DispatcherWake } from './dispatcher-wake.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';
import type { PaymentTelemetry } from './telemetry/payment-telemetry.ts';

/** As many as a dispatcher's loops that claim and record concurrently. */
const QUEUE_CONNECTIONS = 4;

/** Kept open while idle, so that the first request after a quiet period finds prepared plans. */
const KEPT_CONNECTIONS = 4;

/** The channel of notifications to dispatchers. */
export const DELIVERIES_CHANNEL = 'malipo_deliveries';

export type Databases = {
  readonly db: Database;
  /** For queue claims and batch records: no request waits for it, and it reads no whole table. */
  readonly queues: Database;
  /** Called after each commit of either database that recorded deliveries whose first attempt is owed. */
  readonly dispatcherWake: DispatcherWake;
};

type Observers = { readonly log: Log; readonly metrics: ServerMetrics; readonly telemetry: PaymentTelemetry };

/** A connection is opened when the first statement needs it. */
export function openDatabases({ settings }: Config, { log, metrics, telemetry }: Observers): Databases {
  const options: Omit<DatabaseOptions, 'poolSize'> = {
    url: settings.MALIPO_DATABASE_URL.reveal(),
    keptConnections: KEPT_CONNECTIONS,
    statementTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    connectTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    onIdleError: (error) => {
      log.warn({ error }, 'a database connection was lost');
    },
    attestor: createRowAttestor({
      environment: settings.MALIPO_ENVIRONMENT,
      keyRing: settings.MALIPO_ATTESTATION_KEYS,
      report: (row) => {
        log.fatal(row, 'a row is not as the service wrote it, and is ignored');
      },
    }),
    onStateChange: telemetry.stateChanged,
    onDeliveriesOwed: () => {
      dispatcherWake.wake();
    },
  };
  const db = openDatabase({
    ...options,
    poolSize: settings.MALIPO_DATABASE_POOL_SIZE,
    watch: metrics.poolWaited('main'),
  });
  const queues = openDatabase({
    ...options,
    poolSize: QUEUE_CONNECTIONS,
    claimsFromQueues: true,
    watch: metrics.poolWaited('queues'),
  });
  const dispatcherWake = createDispatcherWake({ notify: () => notify(queues, DELIVERIES_CHANNEL), log });
  return { db, queues, dispatcherWake };
}
