// Assembles the server: its parts, their dependencies, and the order in which they start and stop.
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerInterceptors, WorkflowBundleOption } from '@temporalio/worker';
import { createOperatorCalls } from '../../activities/operator-calls.ts';
import { createDeliveryActivities } from '../../activities/delivery.ts';
import { createPaymentActivities, type PaymentActivityDeps } from '../../activities/payment.ts';
import { createReconciliationActivities } from '../../activities/reconciliation.ts';
import { askAfterRestore } from '../../activities/restore-questions.ts';
import { startStatusQueue } from '../../activities/status-queue.ts';
import { createTemporalClient } from '../temporal/client.ts';
import { temporalTarget } from '../temporal/transport.ts';
import { createWebhookSender } from '../webhooks/sender.ts';
import { createEndpointConcurrency } from '../webhooks/endpoint-concurrency.ts';
import type { Config, Role } from '../settings/config.ts';
import { findDueWork } from '../db/work/due-work.ts';
import { listen } from '../db/platform/listener.ts';
import { createAuditChains } from '../dispatcher/audit-chains.ts';
import { createDeliveryMaintenance } from '../dispatcher/delivery-maintenance.ts';
import { createDispatchReport } from '../dispatcher/dispatch-report.ts';
import { startDispatcher, type Dispatcher } from '../dispatcher/dispatcher.ts';
import { createFirstAttempts } from '../dispatcher/first-attempts.ts';
import { createLateWorkChecks } from '../dispatcher/late-work.ts';
import { createTotals } from '../dispatcher/totals.ts';
import { createWorkStarter } from '../dispatcher/work-starter.ts';
import { OPERATOR_IDS } from '../domain/payments/operator-catalogue.ts';
import type { Log } from '../log.ts';
import { ensureLedgerAccounts } from '../operations/payments/ensure-ledger-accounts.ts';
import { createReleaseAttestor } from '../security/release-attestation.ts';
import { checkAccount, checkEnvironment } from './check-database.ts';
import { watchOperatorAccounts } from './operator-accounts.ts';
import { createOperators, type Operators } from './operators.ts';
import { keepTrying } from './keep-trying.ts';
import { DELIVERIES_CHANNEL, openDatabases } from './open-databases.ts';
import { createPaymentTelemetry } from './telemetry/payment-telemetry.ts';
import type { Traces } from './telemetry/traces.ts';
import { traceSinks, withTracedActivities } from './telemetry/traced-workers.ts';
import { measuredSender } from './metrics/measured-calls.ts';
import { createServerMetrics } from './metrics/server-metrics.ts';
import type { SdkMetrics } from './metrics/sdk-metrics.ts';
import { startMetrics } from './start-metrics.ts';
import { keepFence } from './keep-fence.ts';
import { runWhileFits, watchSchema } from './schema-watch.ts';
import { runWorkers } from './worker.ts';
import type { Parts, Stoppable } from './server-parts.ts';
import { startApi } from './start-api.ts';

export type RunningServer = {
  /** Null if the configuration does not name the role `api`. */
  readonly apiPort: number | null;
  /**
   * Says that it is not ready, and serves on for a while; then accepts no new work, finishes what is in flight, and closes everything.
   * Repeated calls wait for one stop.
   */
  stop(): Promise<void>;
};

export type ServerOptions = {
  readonly workflowBundle: WorkflowBundleOption;
  readonly log: Log;
  readonly sdkMetrics: SdkMetrics;
  readonly interceptors?: WorkerInterceptors;
  /** How it waits while it is not ready and still serves. */
  readonly pause?: (ms: number) => Promise<unknown>;
};

const TICK_MS = 1000;
// The hourly signing of audit chains is not part of the work poll.
const WHOLE_PASS_MS = 30_000;
const START_BATCH = 100;
const LEASE_MARGIN_MS = 20_000;
const KEPT_CONNECTIONS = 500;
/** How soon after a restore was found the operators are asked, and again about what they did not answer. */
const ASK_EVERY_MS = 2000;

/** Starts the configured roles once the database has this environment. Works without Temporal: work waits. */
export async function startServer(config: Config, options: ServerOptions): Promise<RunningServer> {
  const { log, pause = sleep } = options;
  const parts = assemble(config, options, await openTraces(config, log));
  await checkEnvironment(parts.db, config.settings.MALIPO_ENVIRONMENT, log).catch(closing(parts));
  parts.accounts.start();
  const has = (role: Role) => config.settings.MALIPO_ROLES.includes(role);
  const { metrics, api } = await startListeners(parts, has('api'));
  const closeAll = async (...roles: readonly Stoppable[]): Promise<void> => {
    await Promise.all([...roles, ...(api === null ? [] : [api])].map((part) => part.stop()));
    // Last: it shows how a stop that takes long is getting on.
    await metrics.stop();
    await close(parts);
  };
  const starts: (() => Stoppable)[] = [];
  if (has('dispatcher')) starts.push(() => startDispatcherRole(parts));
  if (has('worker')) starts.push(() => startWorkerRole(parts, options));
  const working = Promise.all([parts.schema.fits, parts.fence.compared])
    .then(() => parts.accounts.known)
    .then(() => runWhileFits(parts.schema, starts, log));
  const roles = await working.catch(async (error: unknown) => {
    await closeAll();
    throw error;
  });

  async function stop(): Promise<void> {
    if (api !== null) {
      api.announceStop();
      await pause(config.clocks.unreadyBeforeCloseMs);
    }
    await closeAll(roles);
  }

  let stopping: Promise<void> | null = null;
  return {
    apiPort: api?.port ?? null,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Throws, and leaves nothing open, when a port is not to be had. A process that cannot show how it is does not start either. */
async function startListeners(parts: Parts, hasApi: boolean) {
  const metrics = await startMetrics(parts).catch(closing(parts));
  const closingBoth = async (error: unknown): Promise<never> => {
    await metrics.stop();
    return closing(parts)(error);
  };
  return { metrics, api: hasApi ? await startApi(parts).catch(closingBoth) : null };
}

/** For a start that fails: closes what is open, and throws the reason. */
function closing(parts: Parts): (error: unknown) => Promise<never> {
  return async (error) => {
    await close(parts);
    throw error;
  };
}

async function close(parts: Parts): Promise<void> {
  const { log, schema, fence, accounts, starter, dispatcherWake, sender, temporal, db, queues, traces } = parts;
  await fence.stop();
  await schema.stop();
  await accounts.stop();
  await starter.drain();
  await sender.close();
  // A worker that never ended keeps the connection: everything else is closed nevertheless.
  await temporal.close().catch((error: unknown) => {
    log.warn({ error }, 'the connection to Temporal was not closed');
  });
  await dispatcherWake.close();
  await queues.close();
  await db.close();
  await traces?.close();
}

/** Null: traces are not exported. The exporter is loaded only if it is used. */
async function openTraces({ traceExport, settings }: Config, log: Log): Promise<Traces | null> {
  if (traceExport === null) return null;
  const { createOtlpTraces } = await import('./telemetry/otlp-traces.ts');
  return createOtlpTraces(traceExport, settings.MALIPO_ENVIRONMENT, log);
}

function assemble(config: Config, { log, sdkMetrics }: ServerOptions, traces: Traces | null): Parts {
  const { settings, clocks } = config;
  const metrics = createServerMetrics(sdkMetrics);
  const telemetry = createPaymentTelemetry({ log, traces });
  const { MALIPO_ENVIRONMENT: environment, MALIPO_ATTESTATION_KEYS: attestationKeys } = settings;
  const { db, queues, dispatcherWake } = openDatabases(config, { log, metrics, telemetry });
  const schema = watchSchema({ db, check: () => checkAccount(db, environment, log), log });
  const temporal = createTemporalClient({
    target: temporalTarget(settings),
    namespace: config.temporalNamespace,
    taskQueuePrefix: settings.MALIPO_TASK_QUEUE_PREFIX,
    workflowTaskTimeoutMs: clocks.workflowTaskTimeoutMs,
    callTimeoutMs: 5000,
    log,
  });
  const plainSender = createWebhookSender({
    keyRing: settings.MALIPO_SECRET_KEYS,
    allowsLoopback: settings.MALIPO_WEBHOOK_ALLOW_LOOPBACK,
    connectTimeoutMs: clocks.deliveryConnectTimeoutMs,
    attemptTimeoutMs: clocks.deliveryTimeoutMs,
    keptConnections: KEPT_CONNECTIONS,
    log,
  });
  const sender = measuredSender(plainSender, metrics.webhookAttempted);
  const concurrency = createEndpointConcurrency(settings.MALIPO_DELIVERIES_PER_ENDPOINT_MAX);
  const starter = createWorkStarter({
    db: queues,
    temporal,
    maxInFlight: settings.MALIPO_STARTS_UNDER_WAY,
    batchSize: START_BATCH,
    startGraceMs: clocks.startGraceMs,
    clocks,
    log,
  });
  const releases = createReleaseAttestor({ environment, keyRing: attestationKeys });
  const accounts = watchOperatorAccounts({ db, settings, log });
  schema.onChange(() => {
    accounts.wake();
  });
  const payments = {
    ...{ db, environment, clocks, releases },
    get coverage() {
      return accounts.coverage();
    },
  };
  const observers = { metrics, traces, telemetry };
  const work = { temporal, sender, concurrency, starter, accounts, payments };
  const fence = keepFence(config, { schema, temporal, log });
  return { config, log, db, queues, dispatcherWake, schema, fence, ...work, ...observers };
}

function startDispatcherRole(parts: Parts): Stoppable {
  const { config, log, db, queues, temporal, sender, concurrency, starter, telemetry } = parts;
  const { settings, clocks } = config;
  const wakeStarter = () => {
    dispatcher.wakeStarter();
  };
  const wake = () => {
    dispatcher.wake();
  };
  const attempts = createFirstAttempts({
    db: queues,
    sender,
    concurrency,
    maxInFlight: settings.MALIPO_DELIVERIES_UNDER_WAY,
    maxPerMerchant: settings.MALIPO_DELIVERIES_PER_MERCHANT,
    scheduleMs: clocks.deliveryScheduleMs,
    failingLimitMs: clocks.endpointFailingLimitMs,
    overdueMs: clocks.staleAfterMs,
    leaseMs: clocks.deliveryTimeoutMs + LEASE_MARGIN_MS,
    onRetryOwed: wakeStarter,
    onAttempted: telemetry.attempted,
    log,
  });
  const maintenance = createDeliveryMaintenance({ db: queues, onEscalated: wakeStarter });
  const checks = createLateWorkChecks({
    db: queues,
    temporal,
    clocks,
    startGraceMs: clocks.startGraceMs,
    onLost: wakeStarter,
    log,
  });
  const dispatcher: Dispatcher = startDispatcher({
    attempts,
    starter,
    checks,
    maintenance,
    auditChains: createAuditChains({ db, ring: settings.MALIPO_ATTESTATION_KEYS, log }),
    totals: createTotals(db),
    report: createDispatchReport({ db, operators: OPERATOR_IDS }),
    findDueWork: () => findDueWork(queues),
    tickMs: TICK_MS,
    wholePassMs: WHOLE_PASS_MS,
    log,
  });
  const listener = listen({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    channel: DELIVERIES_CHANNEL,
    onNotified: wake,
    log,
  });
  const endServing = parts.dispatcherWake.serve(wake);
  return {
    async stop() {
      // From now on this process notifies the dispatchers of other processes of its records.
      endServing();
      await listener.close();
      await dispatcher.stop();
    },
  };
}

function startWorkerRole(parts: Parts, { workflowBundle, interceptors: given }: ServerOptions): Stoppable {
  const { config, log, db, temporal, accounts, traces } = parts;
  const interceptors = withTracedActivities(traces, given);
  const { settings, clocks } = config;
  const onCalled = parts.metrics.operatorCalled;
  const adapters = createOperators({ config, db: parts.queues, accounts, onCalled, log });
  const payments = paymentDeps(parts, adapters.operators);
  // The other half of the connections is left for sends, and for queries after callbacks.
  const maxInFlight = () => Math.ceil(settings.MALIPO_OPERATOR_CONNECTIONS / 2);
  const statusQueue = startStatusQueue({ ...payments, queues: parts.queues, maxInFlight });
  let isStopped = false;
  const questions = keepTrying({
    failure: 'the operators could not be asked about the payments of a restored database',
    work: () => askAfterRestore({ ...payments, db: parts.queues }, () => isStopped),
    log,
    repeatEveryMs: ASK_EVERY_MS,
  });
  const ledgerAccounts = keepTrying({
    failure: 'the ledger accounts of the operators could not be created',
    work: () => ensureLedgerAccounts(db),
    log,
  });
  const workers = temporal.whenConnected().then((connection): Stoppable[] => {
    if (isStopped) return [];
    const schedules = keepSchedules(parts);
    const running = runWorkers(connection, {
      namespace: config.temporalNamespace,
      taskQueuePrefix: settings.MALIPO_TASK_QUEUE_PREFIX,
      workflowBundle,
      maxCachedWorkflows: settings.MALIPO_MAX_CACHED_WORKFLOWS,
      shutdownGraceMs: clocks.operatorTimeoutMs + clocks.deliveryTimeoutMs,
      stickyTimeoutMs: clocks.workflowTaskTimeoutMs,
      activities: createActivities(parts, payments),
      maxDeliveriesInFlight: settings.MALIPO_DELIVERIES_UNDER_WAY,
      sinks: traceSinks(traces),
      log,
      ...(interceptors && { interceptors }),
    });
    const serve = () => {
      running.serve(accounts.operators());
    };
    serve();
    accounts.onRead(serve);
    return [schedules, running];
  });
  // Rejects if the server stops before it reached Temporal. No code waits for it.
  workers.catch((error: unknown) => {
    if (!isStopped) log.fatal({ error }, 'the workers could not be started');
  });
  return {
    async stop() {
      isStopped = true;
      // Never connected: there is nothing to stop, and closing the client ends the wait.
      const connected = temporal.isConnected() ? await workers : [];
      await Promise.all([ledgerAccounts, questions, statusQueue, ...connected].map((part) => part.stop()));
      await adapters.close();
    },
  };
}

function paymentDeps(parts: Parts, operators: Operators): PaymentActivityDeps {
  const { config, db, queues, accounts, payments, telemetry, log } = parts;
  const { clocks } = config;
  const calls = createOperatorCalls({
    db: queues,
    operators: OPERATOR_IDS,
    // Without an account no call is made.
    perSecond: (operator) => accounts.find(operator)?.callsPerSecond ?? 1,
    clocks,
    log,
  });
  const { releases } = payments;
  return { db, payments, operators, releases, calls, clocks, onExchanged: telemetry.exchanged, log };
}

function createActivities(parts: Parts, payments: PaymentActivityDeps) {
  const { config, db, sender, concurrency, telemetry, log } = parts;
  const { clocks, settings } = config;
  return {
    payments: createPaymentActivities(payments),
    delivery: createDeliveryActivities({
      db,
      sender,
      concurrency,
      clocks,
      onAttempted: telemetry.attempted,
      log,
    }),
    reconciliation: createReconciliationActivities({
      db,
      clocks,
      keyRing: settings.MALIPO_SECRET_KEYS,
      attestationKeys: settings.MALIPO_ATTESTATION_KEYS,
      log,
    }),
  };
}

/** Updates the schedules of the sweep and of the ledger checks once, and later restores removed or paused ones. */
function keepSchedules({ temporal, config: { clocks }, log }: Parts): Stoppable {
  let areUpToDate = false;
  return keepTrying({
    failure: 'the schedules of the sweep and of the ledger checks could not be checked or restored',
    async work() {
      if (areUpToDate) await temporal.restoreSchedules(clocks);
      else await temporal.ensureSchedules(clocks);
      areUpToDate = true;
    },
    log,
    repeatEveryMs: clocks.scheduleCheckEveryMs,
  });
}
