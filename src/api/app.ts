// The Koa application: the middleware of every request, then its route.
import Router, { type RouterMiddleware } from '@koa/router';
import Koa from 'koa';
import { DomainError, recordsUnavailable } from '../domain/errors.ts';
import { serveConsoleApp, type ConsoleApp } from './console-app.ts';
import { serveDocsSite, type DocsSite } from './docs-site.ts';
import type { ApiState } from './context.ts';
import { routeNotFound } from './errors.ts';
import type { OwnSessionDeps } from './own-session.ts';
import { errorResponder, requestId } from './middleware/errors.ts';
import { createRouteFinder, measureRequests, type AnsweredRequest } from './middleware/measure.ts';
import { requestLog } from './middleware/request-log.ts';
import { rateLimit, type RateLimits } from './middleware/rate-limit.ts';
import { isPayPage, respondWithPage, servePayPages } from './pay/pay-pages.ts';
import type { PayDeps } from './pay/visit.ts';
import type { RequestLog } from './request-log.ts';
import type { PaymentDeps, Route, UnboundRoute } from './route.ts';
import type { LinkDeps } from './workflow-links.ts';
import { securityHeaders } from './security-headers.ts';
import { apiKeyRoutes } from './routes/accounts/api-keys.ts';
import { apiRequestRoutes } from './routes/accounts/api-requests.ts';
import { auditRoutes } from './routes/accounts/audit.ts';
import { balanceRoutes } from './routes/payments/balance.ts';
import { operatorRoutes } from './routes/payments/operators.ts';
import { checkoutRoutes } from './routes/payments/checkouts.ts';
import { collectionRoutes } from './routes/payments/collections.ts';
import { consolePaymentRoutes } from './routes/payments/console-payments.ts';
import { checkPayoutRoutes } from './routes/payments/check-payouts.ts';
import { consolePayoutRoutes } from './routes/payments/console-payouts.ts';
import { reversalRoutes } from './routes/payments/reversals.ts';
import { deliveryRoutes } from './routes/webhooks/deliveries.ts';
import { docsRoutes } from './routes/docs.ts';
import { endpointRoutes, type EndpointDeps } from './routes/webhooks/endpoints.ts';
import { eventRoutes } from './routes/webhooks/events.ts';
import { healthRoutes, type HealthDeps } from './routes/health.ts';
import { ledgerRoutes } from './routes/payments/ledger.ts';
import { streamRoutes, type StreamDeps } from './routes/stream.ts';
import { exportRoutes } from './routes/payments/exports.ts';
import { totalsRoutes } from './routes/payments/totals.ts';
import { invitationRoutes } from './routes/accounts/invitations.ts';
import { memberRoutes } from './routes/accounts/members.ts';
import { operatorCallbackRoutes, type CallbackDeps } from './routes/payments/operator-callbacks.ts';
import { operatorMessageRoutes, type MessageDeps } from './routes/payments/operator-messages.ts';
import { passkeyRoutes } from './routes/accounts/passkeys.ts';
import { payoutRoutes } from './routes/payments/payouts.ts';
import { policyRoutes, type PolicyDeps } from './routes/accounts/policy.ts';
import { replayRoutes } from './routes/webhooks/replays.ts';
import { ownSessionsRoutes } from './routes/accounts/own-sessions.ts';
import { searchRoutes } from './routes/payments/search.ts';
import { recoveryRoutes } from './routes/accounts/recovery.ts';
import { secondFactorRoutes } from './routes/accounts/second-factor.ts';
import { sessionRoutes } from './routes/accounts/sessions.ts';

type ConsoleDeps = OwnSessionDeps & PaymentDeps & LinkDeps & StreamDeps & EndpointDeps & PolicyDeps;

export type ApiDeps = Omit<ConsoleDeps, 'stepUpOperations'> &
  PayDeps &
  CallbackDeps &
  MessageDeps &
  HealthDeps &
  RateLimits & {
    readonly consoleApp: ConsoleApp | null;
    readonly docsSite: DocsSite | null;
    /** How many proxies in front of the server are trusted to set X-Forwarded-For. */
    readonly trustedProxies: number;
    readonly requests: RequestLog;
    /** Called with every request once its response begins. */
    readonly onAnswered?: (request: AnsweredRequest) => void;
  };

const ROUTES: readonly UnboundRoute<ConsoleDeps>[] = [
  ...collectionRoutes,
  ...payoutRoutes,
  ...balanceRoutes,
  ...sessionRoutes,
  ...ownSessionsRoutes,
  ...recoveryRoutes,
  ...secondFactorRoutes,
  ...passkeyRoutes,
  ...apiKeyRoutes,
  ...apiRequestRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...consolePaymentRoutes,
  ...consolePayoutRoutes,
  ...checkPayoutRoutes,
  ...checkoutRoutes,
  ...reversalRoutes,
  ...ledgerRoutes,
  ...totalsRoutes,
  ...streamRoutes,
  ...exportRoutes,
  ...endpointRoutes,
  ...eventRoutes,
  ...deliveryRoutes,
  ...replayRoutes,
  ...policyRoutes,
  ...auditRoutes,
  ...operatorRoutes,
  ...searchRoutes,
];

export function createApp(deps: ApiDeps): { app: Koa<ApiState>; routes: Route[] } {
  // The finder exists once every route is described; only requests use it.
  const stepUpOperations = () =>
    described.flatMap(({ operation: { operationId, 'x-step-up': isStepUp } }) =>
      operationId !== undefined && isStepUp === true ? [operationId] : [],
    );
  const routeDeps = { ...deps, stepUpOperations };
  const described: Route[] = [
    ...ROUTES.map((unbound) => unbound(routeDeps)),
    ...operatorCallbackRoutes(deps),
    ...operatorMessageRoutes(deps),
    ...healthRoutes(deps),
  ];
  const routes = [...described, ...docsRoutes(described, deps.publicUrl)];
  const headers = Object.entries(securityHeaders(deps.publicUrl));

  const app = new Koa<ApiState>({ proxy: deps.trustedProxies > 0, maxIpsCount: deps.trustedProxies });
  app.on('error', (error: unknown) => {
    // The connection broke while a response was being sent, usually because the caller closed it.
    deps.log.debug({ error }, 'a connection broke');
  });
  app.use((ctx, next) => {
    for (const [name, value] of headers) ctx.res.setHeader(name, value);
    return next();
  });
  app.use(requestId());
  app.use(measureRequests(createRouteFinder(routes), deps.onAnswered));
  app.use(requestLog(deps.requests));
  app.use(
    errorResponder(deps.log, (ctx, error) => {
      if (!isPayPage(ctx)) return false;
      respondWithPage(ctx, deps, error);
      return true;
    }),
  );
  app.use(rateLimit(deps));
  app.use(serveConsoleApp(deps.consoleApp));
  app.use(serveDocsSite(deps.docsSite));
  app.use(refuseWhileUnfit(deps));
  app.use(servePayPages(deps));
  app.use(refuseUnrouted(routes));
  app.use(runRoute(routes));
  return { app, routes };
}

/** Paths whose requests record nothing and read no table. */
const WITHOUT_SCHEMA: readonly string[] = ['/healthz', '/readyz', '/v1/openapi.json'];

/** On a schema of another version a request could fail halfway, or record values with another meaning. */
function refuseWhileUnfit({ schemaFault }: Pick<HealthDeps, 'schemaFault'>): Koa.Middleware<ApiState> {
  return (ctx, next) => {
    if (!WITHOUT_SCHEMA.includes(ctx.path) && schemaFault() !== null) throw recordsUnavailable();
    return next();
  };
}

/** One router per path. The path of a request is known here; a single router would try the patterns of all paths. */
function runRoute(routes: readonly Route[]): Koa.Middleware<ApiState> {
  const routers = new Map<string, Router<ApiState>>();
  for (const { method, path, pipeline } of routes) {
    const router = routers.get(path) ?? new Router<ApiState>({ strict: true, sensitive: true });
    // `/a/{id}` is `/a/:id` to the router.
    const routerPath = path.replace(/\{([a-z_]+)\}/g, ':$1');
    router[method](routerPath, ...([...pipeline] as RouterMiddleware<ApiState>[]));
    routers.set(path, router);
  }
  const byPath = new Map([...routers].map(([path, router]) => [path, router.routes() as Koa.Middleware<ApiState>]));
  return async (ctx, next) => {
    await byPath.get(ctx.state.route ?? '')?.(ctx, next);
  };
}

/**
 * Refuses an unknown path with 404, and a known path without this method with 405. As in OpenAPI, a literal path takes
 * precedence: `accept` is not an id. A path has one spelling: no other case, slash or escape leads to a route.
 */
function refuseUnrouted(routes: readonly Route[]): Koa.Middleware<ApiState> {
  const methodsByPath = new Map<string, string[]>();
  for (const { method, path } of routes) {
    methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method.toUpperCase()]);
  }
  return async (ctx, next) => {
    const methods = methodsByPath.get(ctx.state.route ?? '');
    // Node would read a backslash as a slash, and drop a fragment.
    if (/[\\#]/.test(ctx.url)) throw routeNotFound();
    if (!methods) throw routeNotFound();
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
    if (!methods.includes(method)) {
      ctx.set('Allow', methods.flatMap((allowed) => (allowed === 'GET' ? ['GET', 'HEAD'] : [allowed])).join(', '));
      throw new DomainError('method_not_allowed', `This route supports ${methods.join(' and ')}.`);
    }
    await next();
  };
}
