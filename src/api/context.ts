// The state of a request on its way through the middleware, and what that state says about the caller.
import type { Middleware } from 'koa';
import type { ApiKeyId, MerchantId, UserId } from '../domain/ids.ts';
import type { ActedBy, Person } from '../domain/accounts/member.ts';
import type { Currency } from '../domain/money.ts';
import { plainAddress } from '../security/attempt-limit.ts';
import type { Session } from '../domain/accounts/session.ts';
import type { PaymentId } from '../domain/payments/payment.ts';

/** Who acts: an API key, which stands for the person who created it, or a person in a session. */
export type Actor =
  /** `maker` is null if the person who created the key is no longer a member. Such a key creates no payouts. */
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
  /** The maker of the key at that time, if any. Another row says whether that person is still a member. */
  readonly maker: UserId | null;
  /** Verifies the key for this request and returns the current caller. Throws the error of the key. */
  verify(): Promise<Caller>;
};

export type ApiState = {
  requestId: string;
  /** The path template of the matched API route; undefined if none matched. */
  route?: string | undefined;
  /** The address of the client, once something asked for it. */
  address?: string | null;
  caller?: Caller;
  /** When the caller's key was verified for this request, or found among the cached keys, by `performance.now()`. */
  keyCheckedAtMs?: number;
  /** Set until the caller's key is verified for this request. */
  cachedKey?: CachedKey | undefined;
  session?: Session;
  /** The payment that the request concerns, if neither path nor response names it. */
  paymentId?: PaymentId;
  /** The error behind a response with 5xx. */
  failure?: unknown;
  /** The merchant's key that came with the request, whether or not it was accepted. */
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

/** The person who acts in the session and their address, for operations that write to the audit log. */
export function auditOf(ctx: Requested): ActedBy {
  return { person: sessionOf(ctx).person, address: addressOf(ctx), requestId: ctx.state.requestId };
}

/** The client's address as the database stores it; null if no readable address is known. */
export function addressOf(ctx: Requested): string | null {
  return (ctx.state.address ??= plainAddress(ctx.ip));
}

/** The client's user agent, shortened and in plain characters; null if the client sends none. */
export function userAgentOf(ctx: { get(header: string): string }): string | null {
  const text = ctx
    .get('User-Agent')
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, MAX_USER_AGENT_LENGTH);
  return text === '' ? null : text;
}

/** The id in the path; empty if the path has none, or the request has not reached its route. */
export function pathIdOf(ctx: object): string {
  return (ctx as { params?: { id?: string } }).params?.id ?? '';
}

const ID_OF_STORED = /^\{"id":"([a-z]{3}_[0-9a-z]{26})"/;

/** The id of the object in a stored response; undefined if there is none. */
export function storedIdOf({ body }: { readonly body: unknown }): string | undefined {
  return typeof body === 'string' ? ID_OF_STORED.exec(body)?.[1] : undefined;
}

/** Method and route. The audit log names an act by them if the act has no name of its own. */
export function routeOf(ctx: { readonly method: string; readonly path: string }): string {
  return `${ctx.method} ${matchedRoute(ctx) ?? ctx.path}`.slice(0, 100);
}

/** The path template of the route; null before the request has reached a route. */
export function matchedRoute(ctx: object): string | null {
  return (ctx as { _matchedRoute?: string })._matchedRoute ?? null;
}
