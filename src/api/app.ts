// The Koa application: what every request goes through, then its route.
import Router, { type RouterMiddleware } from '@koa/router';
import Koa from 'koa';
import { DomainError } from '../domain/errors.ts';
import type { ApiDeps, ApiState } from './context.ts';
import { notFound } from './errors.ts';
import { accessLog, errorAnswers, requestId } from './middleware/errors.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { routerPath, type Route } from './route.ts';
import { apiKeyRoutes } from './routes/accounts/api-keys.ts';
import { auditRoutes } from './routes/accounts/audit.ts';
import { balanceRoutes } from './routes/payments/balance.ts';
import { collectionRoutes } from './routes/payments/collections.ts';
import { consolePayoutRoutes } from './routes/payments/console-payouts.ts';
import { deliveryRoutes } from './routes/webhooks/deliveries.ts';
import { docsRoutes } from './routes/docs.ts';
import { endpointRoutes } from './routes/webhooks/endpoints.ts';
import { eventRoutes } from './routes/webhooks/events.ts';
import { healthRoutes } from './routes/health.ts';
import { invitationRoutes } from './routes/accounts/invitations.ts';
import { memberRoutes } from './routes/accounts/members.ts';
import { operatorCallbackRoutes } from './routes/payments/operator-callbacks.ts';
import { payoutRoutes } from './routes/payments/payouts.ts';
import { policyRoutes } from './routes/accounts/policy.ts';
import { replayRoutes } from './routes/webhooks/replays.ts';
import { recoveryRoutes } from './routes/accounts/recovery.ts';
import { secondFactorRoutes } from './routes/accounts/second-factor.ts';
import { sessionRoutes } from './routes/accounts/sessions.ts';

export function createApp(deps: ApiDeps): { app: Koa<ApiState>; routes: Route[] } {
  const described = [
    ...collectionRoutes(deps),
    ...payoutRoutes(deps),
    ...balanceRoutes(deps),
    ...consoleRoutes(deps),
    ...operatorCallbackRoutes(deps),
    ...healthRoutes(deps),
  ];
  const routes = [...described, ...docsRoutes(described, deps.publicUrl)];
  const router = createRouter(routes);

  const app = new Koa<ApiState>({ proxy: deps.trustedProxies > 0, maxIpsCount: deps.trustedProxies });
  app.on('error', (error: unknown) => {
    // What breaks while an answer is being sent: the caller went away, usually.
    deps.log.debug({ error }, 'a connection broke');
  });
  app.use(requestId());
  app.use(accessLog(deps.log));
  app.use(errorAnswers(deps.log));
  app.use(async (ctx, next) => {
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'no-store');
    await next();
  });
  app.use(rateLimit(deps));
  app.use(refuseUnrouted(routes));
  app.use(router.routes() as Koa.Middleware<ApiState>);
  return { app, routes };
}

function consoleRoutes(deps: ApiDeps): Route[] {
  return [
    ...sessionRoutes(deps),
    ...recoveryRoutes(deps),
    ...secondFactorRoutes(deps),
    ...apiKeyRoutes(deps),
    ...memberRoutes(deps),
    ...invitationRoutes(deps),
    ...consolePayoutRoutes(deps),
    ...endpointRoutes(deps),
    ...eventRoutes(deps),
    ...deliveryRoutes(deps),
    ...replayRoutes(deps),
    ...policyRoutes(deps),
    ...auditRoutes(deps),
  ];
}

function createRouter(routes: readonly Route[]): Router<ApiState> {
  const router = new Router<ApiState>({ strict: false });
  for (const { method, path, pipeline } of routes) {
    router[method](routerPath(path), ...([...pipeline] as RouterMiddleware<ApiState>[]));
  }
  return router;
}

/**
 * Tells a path that has routes, but not with this method, apart from one that has none. A path that is written out goes
 * before one with an id in its place, as OpenAPI has it: `accept` is nobody's id.
 */
function refuseUnrouted(routes: readonly Route[]): Koa.Middleware<ApiState> {
  const methodsByPath = new Map<string, string[]>();
  for (const { method, path } of routes) {
    methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method.toUpperCase()]);
  }
  const templates = [...methodsByPath].map(([path, methods]) => ({
    methods,
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{[a-z_]+\}/g, '[^/]+')}$`, 'i'),
  }));
  return async (ctx, next) => {
    const path = ctx.path.replace(/(.)\/$/, '$1');
    const methods = methodsByPath.get(path) ?? templates.find(({ pattern }) => pattern.test(path))?.methods;
    if (!methods) throw notFound('route_not_found');
    const asked = ctx.method === 'HEAD' ? 'GET' : ctx.method;
    if (!methods.includes(asked)) {
      ctx.set('Allow', methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', '));
      throw new DomainError('method_not_allowed', `This route answers to ${methods.join(' and ')}.`);
    }
    await next();
  };
}
