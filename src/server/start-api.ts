// The role `api`: serves HTTP.
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createApp } from '../api/app.ts';
import { limitConnections } from '../api/connection-limits.ts';
import { createHttpServer } from '../api/http-server.ts';
import { createGuessLimit } from '../api/guess-limit.ts';
import { createLiveStreams } from '../api/live-streams.ts';
import { createRefusalTally } from '../api/refusal-tally.ts';
import { createRequestLog } from '../api/request-log.ts';
import { createRefusedKeys } from '../api/middleware/refused-keys.ts';
import { loadConsoleApp } from '../api/console-app.ts';
import { loadDocsSite } from '../api/docs-site.ts';
import { securityHeaders } from '../api/security-headers.ts';
import { createAddressGuard } from '../webhooks/address-guard.ts';
import { createWorkflowLinks } from '../temporal/workflow-links.ts';
import { createBacklogGate, type BacklogGate } from '../dispatcher/backlog-gate.ts';
import type { Config } from '../settings/config.ts';
import { LEAST_WAITING_TIME_MS } from '../domain/accounts/waiting-time.ts';
import { backlogFull } from '../domain/errors.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { FenceKeeper } from './fence-keeper.ts';
import { readinessOf, refusalOf } from './recovery.ts';
import { closeServer, HTTP_LIMITS, listenOn } from './http-listener.ts';
import { provenReference } from '../security/callback-token.ts';
import { PARSE_CALLBACK } from './operators.ts';
import { backlogLimitsOf } from './start-metrics.ts';
import { createVerifiedKeys } from '../api/verified-keys.ts';
import type { Parts, Stoppable } from './server-parts.ts';

/** The build puts it beside the compiled sources; uncompiled sources find it in `dist`. */
const foldersOf = (name: string) => ['../..', '../../dist'].map((path) => join(import.meta.dirname, path, name));

export type RunningApi = Stoppable & {
  readonly port: number;
  /** From now on it says that it is not ready, and that each response is the last one of its connection. It serves as before. */
  announceStop(): void;
};

export async function startApi(parts: Parts): Promise<RunningApi> {
  const { config, log, db, temporal, starter, accounts, payments, metrics, telemetry, schema, fence } = parts;
  const { settings } = config;
  const { MALIPO_HTTP_HOST: host, MALIPO_ATTESTATION_KEYS: attestationKeys } = settings;
  const gate = createBacklogGate({ db, limits: backlogLimitsOf(config), log });
  const guard = createAddressGuard({ allowsLoopback: settings.MALIPO_WEBHOOK_ALLOW_LOOPBACK });
  const [streams, requests] = [createLiveStreams({ db, log }), createRequestLog({ db, log })];
  const refusals = createRefusalTally();
  let isStopping = false;
  const { app } = createApp({
    ...apiSettingsOf(config),
    ...{ db, streams, requests, refusals, temporal, log },
    isStopping: () => isStopping,
    schemaFault: () => schema.fault() ?? accounts.fault(),
    payments,
    onAnswered: (request) => {
      metrics.requestAnswered(request);
      telemetry.answered(request);
    },
    workflowLinks: createWorkflowLinks(settings.MALIPO_TEMPORAL_UI_URL, config.temporalNamespace),
    consoleApp: loadConsoleApp(foldersOf('console-app')),
    docsSite: loadDocsSite(foldersOf('docs-site')),
    refuseUrl: (url) => guard.refuseUrl(url),
    limitGuesses: createGuessLimit(),
    refusedKeys: createRefusedKeys(db, settings.MALIPO_REFUSED_KEYS_PER_ADDRESS),
    verifiedKeys: createVerifiedKeys(),
    ...acceptanceOf(gate, fence),
    offer: (payment) => {
      starter.offer(payment);
    },
    offerCallback: (payment) => {
      starter.offerCallback(payment);
    },
    parseCallback: PARSE_CALLBACK,
    provenReference: (operator, token) => provenReference(operator, token, attestationKeys),
    provenMessage: (operator, purpose, token) => provenReference(operator, token, attestationKeys, purpose),
  });
  const handle = app.callback();
  const { server, connectionsRefused } = createLimitedServer(parts, (request, response) => {
    // No request of a proxy then arrives on a connection that is being closed.
    if (isStopping) response.shouldKeepAlive = false;
    void handle(request, response);
  });
  metrics.watchApi({
    requestsLost: () => requests.lost(),
    refusals: () => refusals.total(),
    connectionsRefused,
  });
  const close = async (): Promise<void> => {
    gate.close();
    streams.close();
    await closeServer(server);
    await requests.close();
  };
  const address = { host, port: settings.MALIPO_HTTP_PORT, setting: 'MALIPO_HTTP_PORT' };
  const port = await listenOn(server, address, (error) => {
    log.error({ error }, 'the API could not accept a connection');
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  log.info({ port, host }, 'the API listens');
  return {
    port,
    announceStop() {
      isStopping = true;
    },
    stop: close,
  };
}

/** Whether the backlog and the fence let new payments in. */
function acceptanceOf(gate: BacklogGate, fence: FenceKeeper) {
  return {
    isAcceptingWork: () => gate.isOpen(),
    refusalOfWork: (merchantId: MerchantId) =>
      refusalOf(fence.recovery()) ?? (gate.isOpenFor(merchantId) ? null : backlogFull()),
    recovery: () => readinessOf(fence.recovery()),
  };
}

function createLimitedServer({ config: { settings }, log }: Parts, handle: RequestListener) {
  const headers = securityHeaders(settings.MALIPO_PUBLIC_URL);
  const server = createHttpServer({ limits: HTTP_LIMITS, handle, headers, log });
  const limits = {
    max: settings.MALIPO_HTTP_MAX_CONNECTIONS,
    maxPerAddress: settings.MALIPO_TRUSTED_PROXIES > 0 ? null : settings.MALIPO_HTTP_MAX_CONNECTIONS_PER_ADDRESS,
  };
  let connectionsRefused = 0;
  limitConnections(server, limits, () => (connectionsRefused += 1));
  return { server, connectionsRefused: () => connectionsRefused };
}

/** The settings that the API uses unchanged. */
function apiSettingsOf({ clocks, settings }: Config) {
  const leastWaitingTimeMs = LEAST_WAITING_TIME_MS[settings.MALIPO_ENVIRONMENT];
  return {
    environment: settings.MALIPO_ENVIRONMENT,
    publicUrl: settings.MALIPO_PUBLIC_URL,
    keyRing: settings.MALIPO_SECRET_KEYS,
    trustedProxies: settings.MALIPO_TRUSTED_PROXIES,
    rateLimitPerSecond: settings.MALIPO_RATE_LIMIT_PER_SECOND,
    operatorRateLimitPerSecond: settings.MALIPO_OPERATOR_RATE_LIMIT_PER_SECOND,
    endpointFailingLimitMs: clocks.endpointFailingLimitMs,
    serviceLimits: { payoutExpiryMs: clocks.payoutExpiryMs, leastWaitingTimeMs },
    checkoutAttemptsPerAddress: settings.MALIPO_CHECKOUT_ATTEMPTS_PER_ADDRESS,
  };
}
