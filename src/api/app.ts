// The Koa application: what every request goes through, then its route.
import Router, { type RouterMiddleware } from '@koa/router';
import Koa from 'koa';
import { DomainError } from '../domain/errors.ts';
import type { ApiDeps, ApiState } from './context.ts';
import { notFound } from './errors.ts';
import { accessLog, errorAnswers, requestId } from './middleware/errors.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { routerPath, type Route } from './route.ts';
import { balanceRoutes } from './routes/balance.ts';
import { collectionRoutes } from './routes/collections.ts';
import { docsRoutes } from './routes/docs.ts';
import { healthRoutes } from './routes/health.ts';
import { operatorCallbackRoutes } from './routes/operator-callbacks.ts';

export function createApp(deps: ApiDeps): { app: Koa<ApiState>; routes: Route[] } {
  const described = [
    ...collectionRoutes(deps),
    ...balanceRoutes(deps),
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
  app.use(router.routes() as Koa.Middleware<ApiState>);
  app.use(refuseUnrouted(routes));
  return { app, routes };
}

function createRouter(routes: readonly Route[]): Router<ApiState> {
  const router = new Router<ApiState>({ strict: false });
  for (const { method, path, pipeline } of routes) {
    router[method](routerPath(path), ...([...pipeline] as RouterMiddleware<ApiState>[]));
  }
  return router;
}

// A path that has routes, but not with this method, is told apart from one that has none.
function refuseUnrouted(routes: readonly Route[]): Koa.Middleware<ApiState> {
  const patterns = routes.map(({ method, path }) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{[a-z_]+\}/g, '[^/]+')}/?$`),
  }));
  return (ctx) => {
    const methods = patterns.filter(({ pattern }) => pattern.test(ctx.path)).map(({ method }) => method);
    if (methods.length === 0) throw notFound('route_not_found');
    ctx.set('Allow', methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', '));
    throw new DomainError('method_not_allowed', `This route answers to ${methods.join(' and ')}.`);
  };
}
