// What requests carry through the middleware, and what every route may use.
import type { Middleware } from 'koa';
import type { TemporalClient } from '../temporal/client.ts';
import type { Database } from '../db/database.ts';
import type { Scope } from '../domain/accounts/api-key.ts';
import type { Environment } from '../domain/event.ts';
import type { ApiKeyId, MerchantId, UserId } from '../domain/ids.ts';
import type { ActedBy, Person } from '../domain/accounts/member.ts';
import type { Currency } from '../domain/money.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { plainAddress } from '../security/attempt-limit.ts';
import type { KeyRing } from '../security/sealing.ts';
import type { Session } from '../domain/accounts/session.ts';
import type { Log } from '../log.ts';
import type { Payments } from '../operations/payments/create-payments.ts';
import type { PaymentWork } from '../domain/work.ts';

/** Who acts: a key, for which a person stands, or a person in a session. */
export type Actor =
  /** `maker` is null when the person who made the key is no member any more: then no payout is made with it. */
  | { readonly kind: 'key'; readonly keyId: ApiKeyId; readonly maker: UserId | null }
  | { readonly kind: 'person'; readonly person: Person };

/** Who asks, once key or session was checked. */
export type Caller = {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly scopes: readonly Scope[];
  readonly actor: Actor;
};

export type ApiState = {
  requestId: string;
  caller?: Caller;
  session?: Session;
  idempotencyKey?: string;
};

export type ApiMiddleware = Middleware<ApiState>;

export type ApiDeps = {
  readonly db: Database;
  readonly temporal: Pick<TemporalClient, 'ping'>;
  readonly environment: Environment;
  readonly publicUrl: string;
  readonly payments: Payments;
  /** Why nothing may be sent to this address; null: something may. */
  readonly refuseUrl: (url: string) => string | null;
  /** An endpoint of which everything failed for so long is disabled. */
  readonly endpointFailingLimitMs: number;
  /** Opens and seals people's second factors, and seals endpoints' secrets. */
  readonly keyRing: KeyRing;
  readonly log: Log;
  /** Proxies in front of us whose X-Forwarded-For we believe. */
  readonly trustedProxies: number;
  /** Requests per second and client address; 0: the edge limits. */
  readonly rateLimitPerSecond: number;
  /** The same for operators' callbacks. */
  readonly operatorRateLimitPerSecond: number;
  /** False while too much accepted work waits to be started. */
  readonly isAcceptingWork: () => boolean;
  /** A payment was recorded, or people decided on it: its workflow is started or signalled, if that is possible without waiting. */
  readonly offer: (payment: PaymentWork) => void;
  /** The operator called back about it: its status is queried now rather than at the next poll. */
  readonly offerCallback: (payment: PaymentWork) => void;
  readonly parseCallback: Readonly<
    Record<OperatorId, (body: unknown) => { readonly operatorReference: string } | null>
  >;
};

type Requested = { readonly state: ApiState; readonly ip: string };

export function callerOf(ctx: { state: ApiState }): Caller {
  if (!ctx.state.caller) throw new Error('a route asked for its caller without authentication');
  return ctx.state.caller;
}

export function sessionOf(ctx: { state: ApiState }): Session {
  if (!ctx.state.session) throw new Error('a route asked for its session without requiring one');
  return ctx.state.session;
}

/** Who acts in the session, and from where, for operations that keep it in the audit log. */
export function auditOf(ctx: Requested): ActedBy {
  return { person: sessionOf(ctx).person, address: addressOf(ctx), requestId: ctx.state.requestId };
}

/** The client's address as the database keeps it; null when there is none that can be read. */
export function addressOf(ctx: Requested): string | null {
  return plainAddress(ctx.ip);
}

/** Method and route, as the audit log names what had no name of its own yet. */
export function routeOf(ctx: { readonly method: string; readonly path: string }): string {
  const { _matchedRoute: route } = ctx as { _matchedRoute?: string };
  return `${ctx.method} ${route ?? ctx.path}`.slice(0, 100);
}

export function idempotencyKeyOf(ctx: { state: ApiState }): string {
  if (ctx.state.idempotencyKey === undefined) throw new Error('a route asked for a key it does not require');
  return ctx.state.idempotencyKey;
}

/** For whom a payout counts as made, and with which key if any. */
export function makerOf(ctx: { state: ApiState }): { createdBy: UserId; apiKeyId: ApiKeyId | null } {
  const { actor } = callerOf(ctx);
  if (actor.kind === 'person') return { createdBy: actor.person.userId, apiKeyId: null };
  // The scope is refused before to a key whose maker has left.
  if (actor.maker === null) throw new Error('a payout was asked for with a key that has no maker');
  return { createdBy: actor.maker, apiKeyId: actor.keyId };
}
