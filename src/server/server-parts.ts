// The shared parts of the roles of a server.
import type { TemporalClient } from '../temporal/client.ts';
import type { WebhookSender } from '../webhooks/sender.ts';
import type { EndpointConcurrency } from '../webhooks/endpoint-concurrency.ts';
import type { Config } from '../settings/config.ts';
import type { Database } from '../db/platform/database.ts';
import type { WorkStarter } from '../dispatcher/work-starter.ts';
import type { Log } from '../log.ts';
import type { PaymentContext } from '../operations/payments/payment-context.ts';
import type { OperatorAccountWatch } from './operator-accounts.ts';
import type { FenceKeeper } from './fence-keeper.ts';
import type { SchemaWatch } from './schema-watch.ts';
import type { DispatcherWake } from './dispatcher-wake.ts';
import type { PaymentTelemetry } from './telemetry/payment-telemetry.ts';
import type { Traces } from './telemetry/traces.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';

export type Parts = {
  readonly config: Config;
  readonly log: Log;
  readonly db: Database;
  /** With separate connections, for queue claims and batch records: no request waits for it. */
  readonly queues: Database;
  readonly schema: SchemaWatch;
  readonly fence: FenceKeeper;
  readonly temporal: TemporalClient;
  readonly sender: WebhookSender;
  readonly concurrency: EndpointConcurrency;
  readonly starter: WorkStarter;
  readonly dispatcherWake: DispatcherWake;
  readonly accounts: OperatorAccountWatch;
  readonly payments: PaymentContext;
  readonly metrics: ServerMetrics;
  readonly traces: Traces | null;
  readonly telemetry: PaymentTelemetry;
};

/** Why a process cannot start. The message alone tells its staff what to do. */
export class CannotStart extends Error {}

export type Stoppable = { stop(): Promise<void> };
