// The state of a request on its way through the middleware, and what it says of its caller.
import type { Middleware } from 'koa';
import type { ApiKeyId, MerchantId, UserId } from '../domain/ids.ts';
import type { ActedBy, Person } from '../domain/accounts/member.ts';
import type { Currency } from '../domain/money.ts';
import { plainAddress } from '../security/attempt-limit.ts';
import type { Session } from '../domain/accounts/session.ts';
import type { PaymentId } from '../domain/payments/payment.ts';

/** Who acts: an API key, which stands for the person who created it, or a person in a session. */
export type Actor =
  /** `maker` is null when the person who created the key is no longer a member: then no payout is created with it. */
  | { readonly kind: 'key'; readonly keyId: ApiKeyId; readonly maker: UserId | null }
  | { readonly kind: 'person'; readonly person: Person };

export type Caller = {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly actor: Actor;
};

/** An API key that was verified for an earlier request. */
export type CachedKey = {
  readonly version: string;
  /** Who was its maker then, if anybody: whether they still are is another row. */
  readonly maker: UserId | null;
  /** Verifies it for this request. Throws what is wrong with it; afterwards the caller is as of now. */
  verify(): Promise<Caller>;
};

export type ApiState = {
  requestId: string;
  /** The template of the API's route that the path leads to; undefined for none. */
  route?: string | undefined;
  /** Of the client, once it was asked for. */
  address?: string | null;
  caller?: Caller;
  /** When the caller's key was verified for this request, or found among the cached ones, by `performance.now()`. */
  keyCheckedAtMs?: number;
  /** Set until the caller's key is verified for this request. */
  cachedKey?: CachedKey | undefined;
  session?: Session;
  /** The payment that the request was about, where neither path nor response names it. */
  paymentId?: PaymentId;
  /** What became a response with 5xx. */
  failure?: unknown;
  /** The key of a merchant that came with the request, good or not. */
  presentedKey?: { readonly apiKeyId: ApiKeyId; readonly merchantId: MerchantId };
};

export type ApiMiddleware = Middleware<ApiState>;
export type ApiContext = Parameters<ApiMiddleware>[0];

const MAX_USER_AGENT_LENGTH = 200;

type Requested = { readonly state: ApiState; readonly ip: string };

export function sessionOf(ctx: { state: ApiState }): Session {
  if (!ctx.state.session) throw new Error('a route asked for its session without requiring one');
  return ctx.state.session;
}

/** Who acts in the session, and from where, for operations that write to the audit log. */
export function auditOf(ctx: Requested): ActedBy {
  return { person: sessionOf(ctx).person, address: addressOf(ctx), requestId: ctx.state.requestId };
}

/** The client's address as the database keeps it; null when there is none that can be read. */
export function addressOf(ctx: Requested): string | null {
  return (ctx.state.address ??= plainAddress(ctx.ip));
}

/** What the client calls itself, in plain characters and not at length; null when it does not say. */
export function userAgentOf(ctx: { get(header: string): string }): string | null {
  const text = ctx
    .get('User-Agent')
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, MAX_USER_AGENT_LENGTH);
  return text === '' ? null : text;
}

/** The id in the path; empty: none, or the request has not reached its route. */
export function pathIdOf(ctx: object): string {
  return (ctx as { params?: { id?: string } }).params?.id ?? '';
}

const ID_OF_STORED = /^\{"id":"([a-z]{3}_[0-9a-z]{26})"/;

/** The id of the object in a stored response; undefined: there is none. */
export function storedIdOf({ body }: { readonly body: unknown }): string | undefined {
  return typeof body === 'string' ? ID_OF_STORED.exec(body)?.[1] : undefined;
}

/** Method and route, by which the audit log names an act that has no name of its own. */
export function routeOf(ctx: { readonly method: string; readonly path: string }): string {
  return `${ctx.method} ${matchedRoute(ctx) ?? ctx.path}`.slice(0, 100);
}

/** The path of the route, with names in the place of values; null before the request has reached one. */
export function matchedRoute(ctx: object): string | null {
  return (ctx as { _matchedRoute?: string })._matchedRoute ?? null;
}
