// A route of the console as data: what it takes, answers and refuses, and in which roles, said once for router and document.
import type { z } from 'zod';
import type { ErrorCode } from '../domain/errors.ts';
import type { Role } from '../domain/accounts/member.ts';
import type { ApiDeps, ApiMiddleware } from './context.ts';
import { requireIdempotencyKey } from './middleware/idempotency-key.ts';
import { readBody } from './middleware/body.ts';
import { requireRole, requireSession, requireSessionStill } from './middleware/session.ts';
import { SESSION_ONLY } from './openapi.ts';
import { errorResponses, IDEMPOTENCY_ERRORS, STORED_RESPONSE_HEADERS, REQUEST_ID_HEADER, type Route } from './route.ts';
import { idempotencyKeyHeader, noParameters, pathId } from './schemas/primitives.ts';
import { validate } from './validation.ts';

export type ConsoleRoute = {
  readonly method: Route['method'];
  readonly path: string;
  readonly operationId: string;
  /** After "Console": the noun. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** One of them is needed; without them any role will do. An owner has them all. */
  readonly roles?: readonly [Role, ...Role[]];
  /** The prefix of the id in the path. */
  readonly id?: string;
  /** It moves money: it needs an Idempotency-Key, and its answer is kept. */
  readonly isKept?: true;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly answer: {
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    readonly schema?: z.ZodType;
  };
  /** The answer in place of it while a second person's word is missing: 202. */
  readonly waits?: { readonly description: string; readonly schema: z.ZodType };
  readonly errors?: readonly ErrorCode[];
};

const BODY_ERRORS: readonly ErrorCode[] = [
  'parameter_missing',
  'parameter_invalid',
  'parameter_unknown',
  'body_malformed',
  'body_too_large',
  'media_type_unsupported',
];

/** The route with its session, role, query and body checks before `handle`. Body and query are for `handle` to read. */
export function consoleRoute(deps: ApiDeps, route: ConsoleRoute, handle: ApiMiddleware): Route {
  const enter = route.roles ? requireRole(deps, ...route.roles) : requireSession(deps);
  const again = route.body ? [requireSessionStill(deps, route.roles)] : [];
  return { ...described(route, ['permission_denied']), pipeline: [enter, ...checksOf(route), ...again, handle] };
}

/** The same for what people do before they have a session. */
export function openConsoleRoute(route: ConsoleRoute, enter: ApiMiddleware, handle: ApiMiddleware): Route {
  const { operation, ...rest } = described(route, ['permission_denied']);
  return { ...rest, operation: { ...operation, security: [] }, pipeline: [enter, ...checksOf(route), handle] };
}

function checksOf({ query, body, isKept }: ConsoleRoute): ApiMiddleware[] {
  const checkQuery: ApiMiddleware = async (ctx, next) => {
    validate(noParameters, { ...ctx.query });
    await next();
  };
  return [...(isKept ? [requireIdempotencyKey()] : []), ...(query ? [] : [checkQuery]), ...(body ? [readBody()] : [])];
}

function described(route: ConsoleRoute, errors: readonly ErrorCode[]): Omit<Route, 'pipeline'> {
  const { method, path, operationId, summary, description, roles, id, isKept, query, body, answer, waits } = route;
  const needed =
    roles &&
    `Roles: ${['owner', ...roles.filter((role) => role !== 'owner')].map((role) => `\`${role}\``).join(', ')}.`;
  const text = [needed, description].filter((part) => part !== undefined).join(' ');
  const own = [
    ...errors,
    ...(isKept ? IDEMPOTENCY_ERRORS : []),
    ...(body ? BODY_ERRORS : (['parameter_unknown'] as const)),
    ...(route.errors ?? []),
  ];
  return {
    method,
    path,
    operation: {
      operationId,
      tags: [`Console ${route.tag}`],
      summary,
      ...(text !== '' && { description: text }),
      ...(roles && { 'x-roles': [...new Set<Role>(['owner', ...roles])] }),
      security: SESSION_ONLY,
      requestParams: {
        ...(id !== undefined && { path: pathId(id) }),
        ...(isKept && { header: idempotencyKeyHeader }),
        ...(query && { query }),
      },
      ...(body && {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: body }, 'application/x-www-form-urlencoded': { schema: body } },
        },
      }),
      responses: {
        [`${answer.status}`]: {
          description: answer.description,
          headers: isKept ? STORED_RESPONSE_HEADERS : REQUEST_ID_HEADER,
          ...(answer.schema && { content: { 'application/json': { schema: answer.schema } } }),
        },
        ...(waits && {
          '202': {
            description: waits.description,
            headers: REQUEST_ID_HEADER,
            content: { 'application/json': { schema: waits.schema } },
          },
        }),
        ...errorResponses([...new Set(own)]),
      },
    },
  };
}

/** The id in the path. */
export function idOf(ctx: Parameters<ApiMiddleware>[0]): string {
  return (ctx as { params?: { id?: string } }).params?.id ?? '';
}
