// Declares a route as data: the router, the checks of each request and the OpenAPI document come from one description.
//
// To add an endpoint, describe what goes over the wire in `schemas/<area>/<noun>.ts` and declare the route, with a
// handler that calls one operation, or one read of `src/db`, in `routes/<area>/<nouns>.ts`. Write that operation, and its
// SQL in `src/db/<area>/<noun>.ts`, if they do not exist yet. The routes of a new noun also join the list in `app.ts`.
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { ActedBy } from '../domain/accounts/member.ts';
import type { Session } from '../domain/accounts/session.ts';
import { DomainError } from '../domain/errors.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { StoredOutcome } from '../domain/payments/stored-outcome.ts';
import type { PaymentWork } from '../domain/work.ts';
import type { PaymentContext } from '../operations/payments/payment-context.ts';
import { isPublic, requireAccess, requireAccessAfterBody, type Access, type PublicAccess } from './access.ts';
import {
  addressOf,
  auditOf,
  userAgentOf,
  type ApiContext,
  type ApiMiddleware,
  type Caller,
  type CachedKey,
} from './context.ts';
import { isUtf8, readFields, Repeated } from './form.ts';
import type { ScopeDeps } from './middleware/api-key.ts';
import { bodyReader, hasBody } from './middleware/body.ts';
import { isIdempotencyKey } from '../security/request-fingerprint.ts';
import { operationOf } from './operation.ts';
import type { Tag } from './openapi-tags.ts';
import type { MethodAndPath, NOT_FOUND, RouteDescription, StreamType } from './route-description.ts';
import { PAGE_CODES } from './schemas/page.ts';
import { noParameters } from './schemas/primitives.ts';
import { CLEARED_SITE_DATA, readSessionToken } from './session-cookie.ts';
import { validate } from './validation.ts';

export type Route = Pick<RouteDescription, 'method' | 'path'> & {
  readonly operation: ZodOpenApiOperationObject;
  /** Run in this order; the last one responds. */
  readonly pipeline: readonly ApiMiddleware[];
};

export type RouteDeps = ScopeDeps & {
  /** Starts or signals the workflow of a payment that was recorded or decided, if that is possible without waiting. */
  readonly offer: (payment: PaymentWork) => void;
};

/** The dependencies of routes and pages that record payments, or decisions of people about payments. */
export type PaymentDeps = RouteDeps & {
  readonly payments: PaymentContext;
  /** Why no new payment is recorded: the backlog of all merchants or of this one is too large, or the service is in recovery. */
  readonly refusalOfWork: (merchantId: MerchantId) => DomainError | null;
};

type CallerOf<Who extends Access> = Who extends 'anyone'
  ? unknown
  : Who extends PublicAccess
    ? {
        readonly merchantId: MerchantId;
        readonly caller: Caller;
        readonly by: ActedBy | undefined;
        /** Set only if the route confirms keys. */
        readonly cachedKey: CachedKey | undefined;
      }
    : { readonly merchantId: MerchantId; readonly session: Session; readonly by: ActedBy };

/** The input of a handler, completely checked. */
export type RouteRequest<
  Who extends Access,
  Prefix extends keyof typeof NOT_FOUND,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Idempotent extends true,
> = {
  readonly requestId: string;
  readonly address: string | null;
  /** The user agent of the client; null if it sends none. */
  readonly userAgent: string | null;
  /** The id that the reader of a stream sends when it reconnects; empty if it sends none. */
  readonly lastEventId: string;
  readonly sessionToken: string | null;
} & ([Prefix] extends [never] ? unknown : { readonly id: string }) &
  ([Query] extends [never] ? unknown : { readonly query: z.output<Query> }) &
  ([Body] extends [never] ? unknown : { readonly body: z.output<Body> }) &
  ([Idempotent] extends [never] ? unknown : { readonly idempotencyKey: string }) &
  CallerOf<Who>;

export type RouteResponse =
  | {
      readonly status?: 200 | 202 | 204;
      readonly body?: object;
      readonly setCookie?: string;
      /** The browser drops the stored data of the ended session. */
      readonly clearsSiteData?: true;
    }
  /** Sent as it is produced, with the media type of the description. Destroyed when the caller disconnects. */
  | { readonly stream: Readable; readonly headers: Readonly<Record<string, string>> }
  /** Sends the bytes that are stored under the Idempotency-Key, after the workflows of its payments are offered. */
  | { readonly stored: StoredOutcome };

/** What the routes of a list have in common: their tag, and what their paths begin with. */
export type RoutePlace = { readonly tag: Tag; readonly root: string };

/** A route that still lacks its place and the dependencies of its handler. */
export type DeclaredRoute<Deps> = (deps: Deps, place: RoutePlace) => Route;

/** A route that still lacks the dependencies of its handler. */
export type UnboundRoute<Deps> = (deps: Deps) => Route;

/** The routes of a tag, whose paths begin with `root` and whose handlers use `Deps`. */
export function routesUnder<Deps extends RouteDeps>(
  tag: Tag,
  root: string,
  routes: readonly DeclaredRoute<Deps>[],
): readonly UnboundRoute<Deps>[] {
  return routes.map((declared) => (deps) => declared(deps, { tag, root }));
}

/**
 * Declares a route. The route makes every check of its description and then calls `handle` with the checked values. A
 * handler that returns nothing responds without a body.
 */
export function route<
  Deps extends RouteDeps,
  const Who extends Access,
  Prefix extends keyof typeof NOT_FOUND = never,
  Query extends z.ZodObject = never,
  Body extends z.ZodObject = never,
  Idempotent extends true = never,
>(
  methodAndPath: MethodAndPath,
  options: Omit<RouteDescription, 'method' | 'path' | 'tag'> & {
    readonly access: Who;
    readonly idPrefix?: Prefix;
    readonly query?: Query;
    readonly body?: Body;
    readonly isIdempotent?: Idempotent;
    readonly handle: (
      request: RouteRequest<Who, Prefix, Query, Body, Idempotent>,
      deps: Deps,
    ) => Promise<RouteResponse> | Promise<void>;
  },
): DeclaredRoute<Deps> {
  const { response, handle, body } = options;
  return (deps, { tag, root }) => {
    const [method, path] = partsOf(methodAndPath, root);
    const description = { ...options, method, path, tag };
    const read = { ...description, readBody: bodyReader(body ?? noParameters) };
    const respond: ApiMiddleware = async (ctx) => {
      const request = await readRequest(ctx, deps, read);
      const given = (await handle(request as Parameters<typeof handle>[0], deps)) ?? {};
      if ('stored' in given) offerPayments(deps, given.stored);
      send(ctx, given, response);
    };
    return {
      method,
      path,
      operation: operationOf(description),
      pipeline: [requireAccess(deps, description), respond],
    };
  };
}

function partsOf(methodAndPath: MethodAndPath, root: string): [RouteDescription['method'], string] {
  const [method = '', path = ''] = methodAndPath.split(' ');
  return [method.toLowerCase() as RouteDescription['method'], root + path];
}

/** Offers, after the commit, the payments that the request recorded or decided. */
export function offerPayments({ offer }: Pick<RouteDeps, 'offer'>, outcome: StoredOutcome): void {
  if (outcome.kind === 'accepted') for (const payment of outcome.payments) offer(payment);
}

// The order decides which of several errors a request gets. The Idempotency-Key comes first. Then the console checks
// the query before it reads the body; the public API checks the query after the body.
async function readRequest(
  ctx: ApiContext,
  deps: RouteDeps,
  description: RouteDescription & { readonly readBody: (ctx: ApiContext) => Promise<object> },
): Promise<object> {
  const { access, query = noParameters, body, readBody, bodyCodes, isIdempotent } = description;
  const idempotencyKey = isIdempotent && readIdempotencyKey(ctx);
  const readQuery = () => validate(query, readFields(queryOf(ctx), query), PAGE_CODES);
  const early = isPublic(access) ? undefined : readQuery();
  const fields = await readBody(ctx);
  if (body || hasBody(ctx)) await requireAccessAfterBody(ctx, deps, description);
  const { caller, session, cachedKey } = ctx.state;
  return {
    // As written in the path: an id has no second spelling with escapes.
    id: (ctx as { captures?: string[] }).captures?.[0] ?? '',
    query: early ?? readQuery(),
    body: validate(body ?? noParameters, fields, bodyCodes),
    idempotencyKey,
    requestId: ctx.state.requestId,
    address: addressOf(ctx),
    userAgent: userAgentOf(ctx),
    lastEventId: ctx.get('Last-Event-ID'),
    // Read lazily, because few handlers need it.
    get sessionToken() {
      return readSessionToken(ctx, deps.publicUrl);
    },
    merchantId: caller?.merchantId ?? session?.person.merchantId,
    caller,
    cachedKey,
    session,
    by: session && auditOf(ctx),
  };
}

function queryOf(ctx: ApiContext): Record<string, unknown> {
  if (ctx.querystring === '') return {};
  if (!isUtf8(ctx.querystring)) {
    throw new DomainError('parameter_invalid', 'The percent escapes in the query are not valid UTF-8.');
  }
  return Object.fromEntries(
    Object.entries(ctx.query).map(([name, value]) => [name, Array.isArray(value) ? Repeated.from(value) : value]),
  );
}

function send(ctx: ApiContext, response: RouteResponse, { status, type }: RouteDescription['response']): void {
  if ('stream' in response) {
    sendStream(ctx, response, type);
    return;
  }
  if ('stored' in response) {
    const { kind, response: stored } = response.stored;
    if (kind === 'replayed') ctx.set('Idempotent-Replayed', 'true');
    ctx.status = stored.status;
    ctx.type = 'application/json';
    ctx.body = stored.body;
    return;
  }
  if (response.setCookie !== undefined) ctx.append('Set-Cookie', response.setCookie);
  if (response.clearsSiteData) ctx.set('Clear-Site-Data', CLEARED_SITE_DATA);
  ctx.status = response.status ?? status;
  if (response.body) ctx.body = response.body;
}

function sendStream(
  ctx: ApiContext,
  { stream, headers }: Extract<RouteResponse, { stream: Readable }>,
  type: StreamType | undefined,
): void {
  ctx.set({ ...headers });
  ctx.status = 200;
  if (type) ctx.type = `${type}; charset=utf-8`;
  // The response to HEAD has no body, so no reader would end the stream.
  if (ctx.method === 'HEAD') stream.destroy();
  else ctx.body = stream;
}

/** Throws `idempotency_key_missing` or `idempotency_key_invalid`. */
function readIdempotencyKey(ctx: { get(header: string): string }): string {
  const key = ctx.get('Idempotency-Key');
  if (key === '') {
    throw new DomainError(
      'idempotency_key_missing',
      'Send an Idempotency-Key header, a new one for each payment and the same one for each retry of it.',
    );
  }
  if (!isIdempotencyKey(key)) {
    throw new DomainError('idempotency_key_invalid', 'An Idempotency-Key is 1 to 255 visible ASCII characters.');
  }
  return key;
}
