// What requests carry through the middleware, and what every route may use.
import type { Middleware } from 'koa';
import type { TemporalClient } from '../clients/temporal-client.ts';
import type { Database } from '../db/database.ts';
import type { Collection } from '../domain/collection.ts';
import type { Scope } from '../domain/api-key.ts';
import type { Environment } from '../domain/event.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Currency } from '../domain/money.ts';
import type { OperatorId } from '../domain/operator-catalogue.ts';
import type { Log } from '../log.ts';

/** Who asks, once the key was checked. */
export type Caller = {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly scopes: readonly Scope[];
};

export type ApiState = {
  requestId: string;
  caller?: Caller;
  idempotencyKey?: string;
};

export type ApiMiddleware = Middleware<ApiState>;

export type ApiDeps = {
  readonly db: Database;
  readonly temporal: Pick<TemporalClient, 'ping'>;
  readonly environment: Environment;
  readonly publicUrl: string;
  readonly promptDeadlineMs: number;
  readonly log: Log;
  /** Proxies in front of us whose X-Forwarded-For we believe. */
  readonly trustedProxies: number;
  /** Requests per second and client address; 0: the edge limits. */
  readonly rateLimitPerSecond: number;
  /** The same for operators' callbacks. */
  readonly operatorRateLimitPerSecond: number;
  /** False while too much accepted work waits to be started. */
  readonly isAcceptingWork: () => boolean;
  /** The collection is recorded: start it now if that is possible without waiting. */
  readonly onCollectionRecorded: (collection: Collection) => void;
  /** The operator called back about it: look now rather than at the next poll. */
  readonly onOperatorCalledBack: (collection: Collection) => void;
  readonly parseCallback: Readonly<
    Record<OperatorId, (body: unknown) => { readonly operatorReference: string } | null>
  >;
};

/** Kept long beyond any retry of a merchant's server. */
export const IDEMPOTENCY_KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1000;

export function callerOf(ctx: { state: ApiState }): Caller {
  if (!ctx.state.caller) throw new Error('a route asked for its caller without authentication');
  return ctx.state.caller;
}

export function idempotencyKeyOf(ctx: { state: ApiState }): string {
  if (ctx.state.idempotencyKey === undefined) throw new Error('a route asked for a key it does not require');
  return ctx.state.idempotencyKey;
}
