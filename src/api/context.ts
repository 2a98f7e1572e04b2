// The state of a request on its way through the middleware, and what every route may use.
import type { Middleware } from 'koa';
import type { TemporalClient } from '../temporal/client.ts';
import type { WorkflowLinks } from '../temporal/workflow-links.ts';
import type { Database } from '../db/platform/database.ts';
import type { Environment } from '../domain/event.ts';
import type { ApiKeyId, MerchantId, UserId } from '../domain/ids.ts';
import type { ActedBy, Person } from '../domain/accounts/member.ts';
import type { ServiceLimits } from '../domain/accounts/policy.ts';
import type { Currency } from '../domain/money.ts';
import type { Coverage, OperatorId } from '../domain/payments/operator-catalogue.ts';
import { plainAddress } from '../security/attempt-limit.ts';
import type { KeyRing } from '../security/sealing.ts';
import type { ConsoleApp } from './console-app.ts';
import type { DocsSite } from './docs-site.ts';
import type { GuessLimit } from './guess-limit.ts';
import type { RefusedKeys } from './middleware/refused-keys.ts';
import type { RefusalTally } from './refusal-tally.ts';
import type { AnsweredRequest } from './middleware/measure.ts';
import type { VerifiedKeys } from './verified-keys.ts';
import type { RequestLog } from './request-log.ts';
import type { LiveStreams } from './live-streams.ts';
import type { Session } from '../domain/accounts/session.ts';
import type { Log } from '../log.ts';
import type { Payments } from '../operations/payments/create-payments.ts';
import type { StoredOutcome } from '../domain/payments/stored-outcome.ts';
import type { PaymentId } from '../domain/payments/payment.ts';
import type { PaymentWork } from '../domain/work.ts';

/** Who acts: an API key, which stands for the person who created it, or a person in a session. */
export type Actor =
  /** `maker` is null when the person who created the key is no longer a member: then no payout is created with it. */
  | { readonly kind: 'key'; readonly keyId: ApiKeyId; readonly maker: UserId | null }
  | { readonly kind: 'person'; readonly person: Person };

/** Who calls the public API, known once key or session is checked. */
export type Caller = {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly actor: Actor;
};

/** An API key that was verified for an earlier request. */
export type CachedKey = {
  /** Of its row, when it was verified. */
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
  knownKey?: { readonly apiKeyId: ApiKeyId; readonly merchantId: MerchantId };
};

export type ApiMiddleware = Middleware<ApiState>;

export type ApiDeps = {
  readonly db: Database;
  readonly temporal: Pick<TemporalClient, 'ping'>;
  readonly environment: Environment;
  readonly publicUrl: string;
  readonly payments: Payments;
  /** Where developers see the workflow of a payment; null where nobody does. */
  readonly workflowLinks: WorkflowLinks | null;
  /** The console's web app; null where it is not served. */
  readonly consoleApp: ConsoleApp | null;
  readonly docsSite: DocsSite | null;
  /** Why nothing may be sent to this address; null when something may. */
  readonly refuseUrl: (url: string) => string | null;
  /** An endpoint is disabled when everything sent to it has failed for so long. */
  readonly endpointFailingLimitMs: number;
  /** What applies where a merchant's policy says nothing. */
  readonly serviceLimits: ServiceLimits;
  /** Seals and opens people's second factors, and seals endpoints' secrets. */
  readonly keyRing: KeyRing;
  readonly log: Log;
  /** How many proxies in front of us are trusted to set X-Forwarded-For. */
  readonly trustedProxies: number;
  /** Requests per second and client address; 0: any number, which `live` refuses. */
  readonly rateLimitPerSecond: number;
  /** The same for operators' callbacks, which have a limit of their own. */
  readonly operatorRateLimitPerSecond: number;
  /** Limits the failed guesses at a person's password and second factor. */
  readonly limitGuesses: GuessLimit;
  /** The streams of live updates of this process. */
  readonly streams: LiveStreams;
  /** Where the requests of API keys are noted. */
  readonly requests: RequestLog;
  /** Called with every request once its response begins. */
  readonly onAnswered?: (request: AnsweredRequest) => void;
  /** Counts the refused requests of people. */
  readonly refusals: RefusalTally;
  /** What applies to the attempts of payers at checkouts. */
  readonly checkouts: {
    readonly coverage: Coverage;
    readonly secondAttemptWaitMs: number;
    /** In a quarter of an hour; 0: any number. */
    readonly attemptsPerAddress: number;
  };
  /** Counts a refused key of this address. */
  readonly refusedKeys: RefusedKeys;
  /** The keys that this process has verified. */
  readonly verifiedKeys: VerifiedKeys;
  /** False while too much accepted work waits for us: of all merchants, or of this one if it is named. */
  readonly isAcceptingWork: (merchantId?: MerchantId) => boolean;
  /**
   * Called after a payment is recorded, or people decided on it: starts or signals its workflow, if that is possible
   * without waiting.
   */
  readonly offer: (payment: PaymentWork) => void;
  /** Called after the operator called back: lets the workflow query the status now instead of at its next poll. */
  readonly offerCallback: (payment: PaymentWork) => void;
  readonly parseCallback: Readonly<
    Record<OperatorId, (body: unknown) => { readonly operatorReference: string } | null>
  >;
};

/** Offers the payments that the request recorded or decided on, after the commit. */
export function offerAll({ offer }: Pick<ApiDeps, 'offer'>, outcome: StoredOutcome): void {
  if (outcome.kind === 'accepted') for (const payment of outcome.payments) offer(payment);
}

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

/** Method and route, by which the audit log names an act that has no name of its own. */
export function routeOf(ctx: { readonly method: string; readonly path: string }): string {
  return `${ctx.method} ${matchedRoute(ctx) ?? ctx.path}`.slice(0, 100);
}

/** The path of the route, with names in the place of values; null before the request has reached one. */
export function matchedRoute(ctx: object): string | null {
  return (ctx as { _matchedRoute?: string })._matchedRoute ?? null;
}
