// Leads each request to its route. A path has one spelling: no other case, slash or escape leads to a route.
import { DomainError } from '../domain/errors.ts';
import type { ApiMiddleware } from './context.ts';
import { routeNotFound } from './errors.ts';
import type { Route } from './route.ts';

type Pathed = Pick<Route, 'path'>;

/** The template of a path, and the id in the place that the template has for it. */
export type FoundPath = { readonly path: string; readonly id: string | undefined };

/** The template of the route that a path leads to; undefined for none. A literal path goes before a template: `accept` is not an id. */
export function createRouteFinder(routes: readonly Pathed[]): (path: string) => FoundPath | undefined {
  const literal = new Map(routes.map(({ path }) => [path, { path, id: undefined }]));
  const templates = [...literal.keys()].map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace('{id}', '([^/]+)')}$`),
  }));
  return (path) => {
    const found = literal.get(path);
    if (found) return found;
    for (const template of templates) {
      const match = template.pattern.exec(path);
      if (match) return { path: template.path, id: match[1] };
    }
    return undefined;
  };
}

/** Runs the route of the request. Refuses an unknown path with 404 and a known one without this method with 405. */
export function runRoute(routes: readonly Pick<Route, 'path' | 'method' | 'pipeline'>[]): ApiMiddleware {
  const byPath = new Map<string, Map<string, ApiMiddleware>>();
  for (const { method, path, pipeline } of routes) {
    const byMethod = byPath.get(path) ?? new Map<string, ApiMiddleware>();
    byPath.set(path, byMethod.set(method.toUpperCase(), inTurn(pipeline)));
  }
  return (ctx, next) => {
    const { route } = ctx.state;
    const byMethod = byPath.get(route ?? '');
    // Node would read a backslash as a slash, and drop a fragment.
    if (byMethod === undefined || /[\\#]/.test(ctx.url)) throw routeNotFound();
    const run = byMethod.get(ctx.method === 'HEAD' ? 'GET' : ctx.method);
    if (run === undefined) {
      const methods = [...byMethod.keys()];
      ctx.set('Allow', methods.flatMap((allowed) => (allowed === 'GET' ? ['GET', 'HEAD'] : [allowed])).join(', '));
      throw new DomainError('method_not_allowed', `This route answers to ${methods.join(' and ')}.`);
    }
    ctx.state.reachedRoute = route;
    return run(ctx, next) as Promise<unknown>;
  };
}

function inTurn([first, ...others]: Route['pipeline']): ApiMiddleware {
  if (first === undefined) return (_ctx, next) => next();
  const rest = inTurn(others);
  return (ctx, next) => first(ctx, () => Promise.resolve(rest(ctx, next))) as Promise<unknown>;
}
