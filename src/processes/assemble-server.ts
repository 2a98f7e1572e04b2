// Assembles the server: which parts run, with what they work, and in which order they start and stop.
import { join } from 'node:path';
import type { WorkerInterceptors, WorkflowBundleOption } from '@temporalio/worker';
import { createDeliveryActivities } from '../../activities/delivery.ts';
import { createPaymentActivities } from '../../activities/payment.ts';
import { createReconciliationActivities } from '../../activities/reconciliation.ts';
import { createStatusAttestor } from '../../activities/attestation.ts';
import { createApp } from '../api/app.ts';
import { createHttpServer } from '../api/http-server.ts';
import { createGuessLimit } from '../api/guess-limit.ts';
import { createLiveStreams } from '../api/live-streams.ts';
import { createRefusalTally } from '../api/refusal-tally.ts';
import { createRequestLog } from '../api/request-log.ts';
import { createKeyLimit } from '../api/middleware/rate-limit.ts';
import { createRefusedKeys } from '../api/middleware/refused-keys.ts';
import { loadConsoleApp } from '../api/console-app.ts';
import { loadDocsSite } from '../api/docs-site.ts';
import { securityHeaders } from '../api/security-headers.ts';
import { createAddressGuard } from '../webhooks/address-guard.ts';
import { createTemporalClient, type TemporalClient } from '../temporal/client.ts';
import { createWorkflowLinks } from '../temporal/workflow-links.ts';
import { temporalTarget } from '../temporal/transport.ts';
import { createWebhookSender, type WebhookSender } from '../webhooks/sender.ts';
import { createEndpointConcurrency, type EndpointConcurrency } from '../webhooks/endpoint-concurrency.ts';
import type { Config, Role } from '../config.ts';
import { openDatabase, type Database } from '../db/database.ts';
import { listen } from '../db/listener.ts';
import { createAuditChains } from '../dispatcher/audit-chains.ts';
import { createDeliveryMaintenance } from '../dispatcher/delivery-maintenance.ts';
import { createDispatchReport } from '../dispatcher/dispatch-report.ts';
import { startDispatcher, type Dispatcher } from '../dispatcher/dispatcher.ts';
import { createFirstAttempts } from '../dispatcher/first-attempts.ts';
import { createBacklogGate } from '../dispatcher/backlog-gate.ts';
import { createLateWorkChecks } from '../dispatcher/late-work.ts';
import { createRecheckStarts } from '../dispatcher/recheck-starts.ts';
import { createTotals } from '../dispatcher/totals.ts';
import { createWorkStarter, type WorkStarter } from '../dispatcher/work-starter.ts';
import { coverageOf, OPERATOR_IDS, type Coverage } from '../domain/payments/operator-catalogue.ts';
import type { Log } from '../log.ts';
import { apiSettingsOf } from './api-settings.ts';
import { createPayments, type Payments } from '../operations/payments/create-payments.ts';
import { ensureOperatorAccounts } from '../operations/payments/ensure-operator-accounts.ts';
import { createReleaseAttestor, type ReleaseAttestor } from '../security/release-attestation.ts';
import { createRowAttestor } from '../security/row-attestation.ts';
import { checkDatabase } from './check-database.ts';
import { closeServer, HTTP_LIMITS, listenOn } from './http-listener.ts';
import { keepSchedules } from './keep-schedules.ts';
import { closeOperators, createOperators, PARSE_CALLBACK, type Operators } from './operators.ts';
import { keepTrying } from './keep-trying.ts';
import { createPaymentSteps, type PaymentSteps } from './payment-steps.ts';
import { openTraces } from './traces/open-traces.ts';
import { traceSinks, withTracedActivities } from './traces/traced-workers.ts';
import type { Traces } from './traces/traces.ts';
import { measuredSender } from './metrics/measured-sender.ts';
import { createServerMetrics, type ServerMetrics } from './metrics/server-metrics.ts';
import type { SdkMetrics } from './metrics/sdk-metrics.ts';
import { backlogLimitsOf, startMetrics } from './start-metrics.ts';
import { runWorkers } from './worker.ts';

export type RunningServer = {
  /** Null when the configuration does not name the role `api`. */
  readonly apiPort: number | null;
  /** Accepts no new work, finishes what is in flight, then closes everything. Repeated calls wait for one stop. */
  stop(): Promise<void>;
};

type Parts = {
  readonly config: Config;
  readonly log: Log;
  readonly db: Database;
  readonly temporal: TemporalClient;
  readonly sender: WebhookSender;
  readonly concurrency: EndpointConcurrency;
  readonly starter: WorkStarter;
  readonly coverage: Coverage;
  readonly payments: Payments;
  readonly releases: ReleaseAttestor;
  readonly metrics: ServerMetrics;
  readonly traces: Traces | null;
  readonly steps: PaymentSteps;
};

export type ServerOptions = {
  readonly workflowBundle: WorkflowBundleOption;
  readonly log: Log;
  readonly sdkMetrics: SdkMetrics;
  readonly interceptors?: WorkerInterceptors;
};

type Stoppable = { stop(): Promise<void> };

/** As the build leaves it: beside the compiled sources, which the sources themselves have in `dist`. */
const foldersOf = (name: string) => ['../..', '../../dist'].map((path) => join(import.meta.dirname, path, name));
const TICK_MS = 1000;
const START_BATCH = 100;
const LEASE_MARGIN_MS = 20_000;
const KEPT_CONNECTIONS = 500;

/**
 * Starts the roles that the configuration names, as soon as the database says that it is of this environment. Works while
 * Temporal is away: work is recorded and waits.
 */
export async function startServer(config: Config, options: ServerOptions): Promise<RunningServer> {
  const { log } = options;
  const parts = assemble(config, options, await openTraces(config, log));
  await checkDatabase(parts.db, config.settings.MALIPO_ENVIRONMENT, log).catch(async (error: unknown) => {
    await close(parts);
    throw error;
  });
  const has = (role: Role) => config.settings.MALIPO_ROLES.includes(role);
  // Before any role: a process that cannot show how it is does not start.
  const running: Stoppable[] = [await startMetrics(parts)];
  let apiPort: number | null = null;
  if (has('api')) {
    const api = await startApi(parts);
    apiPort = api.port;
    running.push(api);
  }
  if (has('dispatcher')) running.push(startDispatcherRole(parts));
  if (has('worker')) running.push(startWorkerRole(parts, options));

  async function stop(): Promise<void> {
    await Promise.all(running.map((part) => part.stop()));
    await close(parts);
  }

  let stopping: Promise<void> | null = null;
  return {
    apiPort,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

async function close({ starter, sender, temporal, db, traces }: Parts): Promise<void> {
  await starter.drain();
  await sender.close();
  await temporal.close();
  await db.close();
  await traces?.close();
}

function assemble(config: Config, { log, sdkMetrics }: ServerOptions, traces: Traces | null): Parts {
  const { settings, clocks } = config;
  const metrics = createServerMetrics(sdkMetrics);
  const steps = createPaymentSteps({ log, traces });
  const { MALIPO_ENVIRONMENT: environment, MALIPO_ATTESTATION_KEYS: attestationKeys } = settings;
  const db = openDatabase({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    poolSize: settings.MALIPO_DATABASE_POOL_SIZE,
    statementTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    connectTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    onIdleError: (error) => {
      log.warn({ error }, 'a database connection was lost');
    },
    attestor: createRowAttestor({
      environment,
      keyRing: attestationKeys,
      report: (row) => {
        log.fatal(row, 'a row is not as a process of ours wrote it: it counts for nothing');
      },
    }),
    watch: metrics.poolWaited,
    onStateChange: steps.stateChanged,
  });
  const temporal = createTemporalClient({
    target: temporalTarget(settings),
    namespace: config.temporalNamespace,
    taskQueuePrefix: settings.MALIPO_TASK_QUEUE_PREFIX,
    workflowTaskTimeoutMs: clocks.workflowTaskTimeoutMs,
    rechecksTimeoutMs: clocks.sweepTimeoutMs,
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
  const concurrency = createEndpointConcurrency(settings.MALIPO_DELIVERIES_PER_ENDPOINT);
  const starter = createWorkStarter({
    db,
    temporal,
    maxInFlight: settings.MALIPO_STARTS_UNDER_WAY,
    batchSize: START_BATCH,
    startGraceMs: clocks.startGraceMs,
    clocks,
    log,
  });
  const releases = createReleaseAttestor({ environment, keyRing: attestationKeys });
  const coverage = coverageOf(settings.MALIPO_MTN_MOMO_TARGET_ENVIRONMENT);
  const payments = createPayments({ db, environment, clocks, coverage, releases });
  const work = { starter, coverage, payments, releases };
  return { config, log, db, temporal, sender, concurrency, ...work, metrics, traces, steps };
}

async function startApi(parts: Parts): Promise<Stoppable & { port: number }> {
  const { config, log, db, temporal, starter, payments, metrics, steps } = parts;
  const { settings } = config;
  const gate = createBacklogGate({ db, limits: backlogLimitsOf(config), log });
  const guard = createAddressGuard({ allowsLoopback: settings.MALIPO_WEBHOOK_ALLOW_LOOPBACK });
  const [streams, requests] = [createLiveStreams({ db, log }), createRequestLog({ db, log })];
  const refusals = createRefusalTally();
  const { app } = createApp({
    ...apiSettingsOf(config, parts.coverage),
    ...{ db, streams, requests, refusals, temporal, log },
    payments,
    onAnswered: (request) => {
      metrics.requestAnswered(request);
      steps.answered(request);
    },
    workflowLinks: createWorkflowLinks(settings.MALIPO_TEMPORAL_UI_URL, config.temporalNamespace),
    consoleApp: loadConsoleApp(foldersOf('console-app')),
    docsSite: loadDocsSite(foldersOf('docs-site')),
    refuseUrl: (url) => guard.refuseUrl(url),
    limitKey: createKeyLimit(settings.MALIPO_KEY_RATE_LIMIT_PER_SECOND),
    limitGuesses: createGuessLimit(),
    refusedKeys: createRefusedKeys(db, settings.MALIPO_REFUSED_KEYS_PER_ADDRESS),
    isAcceptingWork: (merchantId) => (merchantId === undefined ? gate.isOpen() : gate.isOpenFor(merchantId)),
    offer: (payment) => {
      starter.offer(payment);
    },
    offerCallback: (payment) => {
      starter.offerCallback(payment);
    },
    parseCallback: PARSE_CALLBACK,
  });
  metrics.watchApi({ requestsLost: () => requests.lost(), refusals: () => refusals.total() });
  const handle = app.callback();
  const server = createHttpServer({
    limits: HTTP_LIMITS,
    handle: (request, response) => void handle(request, response),
    headers: securityHeaders(settings.MALIPO_PUBLIC_URL),
    log,
  });
  server.maxConnections = settings.MALIPO_HTTP_MAX_CONNECTIONS;
  const port = await listenOn(server, settings.MALIPO_HTTP_PORT, settings.MALIPO_HTTP_HOST, (error) => {
    log.error({ error }, 'the API could not accept a connection');
  });
  log.info({ port, host: settings.MALIPO_HTTP_HOST }, 'the API listens');
  return {
    port,
    async stop() {
      gate.close();
      streams.close();
      await closeServer(server);
      await requests.close();
    },
  };
}

function startDispatcherRole(parts: Parts): Stoppable {
  const { config, log, db, temporal, sender, concurrency, starter, steps } = parts;
  const { settings, clocks } = config;
  const attempts = createFirstAttempts({
    db,
    sender,
    concurrency,
    maxInFlight: settings.MALIPO_DELIVERIES_UNDER_WAY,
    maxPerMerchant: settings.MALIPO_DELIVERIES_PER_MERCHANT,
    scheduleMs: clocks.deliveryScheduleMs,
    failingLimitMs: clocks.endpointFailingLimitMs,
    leaseMs: clocks.deliveryTimeoutMs + LEASE_MARGIN_MS,
    onRetryOwed: () => {
      dispatcher.wakeStarter();
    },
    onAttempted: steps.attempted,
    log,
  });
  const maintenance = createDeliveryMaintenance({
    db,
    onEscalated: () => {
      dispatcher.wakeStarter();
    },
    onReplayed: () => {
      dispatcher.wake();
    },
  });
  const checks = createLateWorkChecks({
    db,
    temporal,
    clocks,
    startGraceMs: clocks.startGraceMs,
    onLost: () => {
      dispatcher.wakeStarter();
    },
    log,
  });
  const rechecks = createRecheckStarts({ db, temporal, operators: OPERATOR_IDS, clocks });
  const dispatcher: Dispatcher = startDispatcher({
    attempts,
    starter,
    checks,
    rechecks,
    maintenance,
    auditChains: createAuditChains({ db, ring: settings.MALIPO_ATTESTATION_KEYS, log }),
    totals: createTotals(db),
    report: createDispatchReport({ db, operators: OPERATOR_IDS }),
    tickMs: TICK_MS,
    log,
  });
  const listener = listen({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    channel: 'malipo_deliveries',
    onNotified: () => {
      dispatcher.wake();
    },
    log,
  });
  return {
    async stop() {
      await listener.close();
      await dispatcher.stop();
    },
  };
}

function startWorkerRole(parts: Parts, { workflowBundle, interceptors: given }: ServerOptions): Stoppable {
  const { config, log, db, temporal, traces } = parts;
  const interceptors = withTracedActivities(traces, given);
  const { settings, clocks } = config;
  const operators = createOperators(config, parts.metrics.operatorCalled);
  let isStopped = false;
  const accounts = keepTrying({
    failure: 'the ledger accounts of the operators could not be created',
    work: () => ensureOperatorAccounts(db),
    log,
  });
  const workers = temporal.whenConnected().then((connection): Stoppable[] => {
    if (isStopped) return [];
    const schedules = keepSchedules(temporal, clocks, log);
    const running = runWorkers(connection, {
      namespace: config.temporalNamespace,
      taskQueuePrefix: settings.MALIPO_TASK_QUEUE_PREFIX,
      workflowBundle,
      maxCachedWorkflows: settings.MALIPO_MAX_CACHED_WORKFLOWS,
      shutdownGraceMs: clocks.operatorTimeoutMs + clocks.deliveryTimeoutMs,
      stickyTimeoutMs: clocks.workflowTaskTimeoutMs,
      activities: createActivities(parts, operators),
      operators: OPERATOR_IDS,
      maxDeliveriesInFlight: settings.MALIPO_DELIVERIES_UNDER_WAY,
      sinks: traceSinks(traces),
      log,
      ...(interceptors && { interceptors }),
    });
    return [schedules, running];
  });
  // Rejects when the server is stopped before it reached Temporal, which no one waits for.
  workers.catch((error: unknown) => {
    if (!isStopped) log.fatal({ error }, 'the workers could not be started');
  });
  return {
    async stop() {
      isStopped = true;
      await accounts.stop();
      // Never connected: there is nothing to stop, and closing the client ends the wait.
      if (temporal.isConnected()) await Promise.all((await workers).map((part) => part.stop()));
      await closeOperators(operators);
    },
  };
}

function createActivities(parts: Parts, operators: Operators) {
  const { config, db, payments, releases, sender, concurrency, steps, log } = parts;
  const { clocks, settings } = config;
  const attestor = createStatusAttestor({
    environment: settings.MALIPO_ENVIRONMENT,
    keyRing: settings.MALIPO_ATTESTATION_KEYS,
    sealingKeys: settings.MALIPO_SECRET_KEYS,
    log,
  });
  return {
    payments: createPaymentActivities({
      ...{ db, payments, releases, operators, attestor, clocks, log },
      onExchanged: steps.exchanged,
    }),
    delivery: createDeliveryActivities({
      db,
      sender,
      concurrency,
      clocks,
      onAttempted: steps.attempted,
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
