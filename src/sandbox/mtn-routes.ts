// MTN's wire as the sandbox operator serves it: two products with their tokens, three things to ask for, a balance.
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { PaymentKind } from './behaviours.ts';
import { cutConnection } from './fault-switches.ts';
import { createMtnAccess, type MtnAccess } from './mtn-access.ts';
import { DUPLICATE, INTERNAL, NOT_ALLOWED, NOT_FOUND, refuse, UNAVAILABLE, WRONG_ENVIRONMENT } from './mtn-refusals.ts';
import { readRefund, readRequestToPay, readTransfer, type MtnReading, type RawRequest } from './mtn-request.ts';
import type { PaymentIntake } from './payment-intake.ts';
import type { SandboxCredentials, SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import { toWire } from './transaction.ts';

type MtnRouterDeps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly intake: PaymentIntake;
  /** Runs before everything else on this wire. */
  readonly faults: Middleware;
};

type Reception = Awaited<ReturnType<PaymentIntake['receiveRefund']>>;

/** One thing that can be asked for: where, how it is read, and who takes it. */
type Resource<T> = {
  readonly path: string;
  readonly kind: PaymentKind;
  readonly read: (raw: RawRequest, settings: SandboxSettings) => MtnReading<T>;
  readonly receive: (order: T) => Promise<Reception>;
};

export function createMtnRouter(deps: MtnRouterDeps): Router {
  const { intake, settings } = deps;
  const collection = productRouter('/collection', settings.collection, deps);
  const disbursement = productRouter('/disbursement', settings.disbursement, deps);
  collection.serve({
    path: '/v1_0/requesttopay',
    kind: 'collection',
    read: readRequestToPay,
    receive: (order) => intake.receive(order),
  });
  disbursement.serve({
    path: '/v1_0/transfer',
    kind: 'payout',
    read: readTransfer,
    receive: (order) => intake.receive(order),
  });
  disbursement.serve({
    path: '/v1_0/refund',
    kind: 'refund',
    read: readRefund,
    receive: (order) => intake.receiveRefund(order),
  });
  const router = new Router();
  router.use(collection.router.routes());
  router.use(disbursement.router.routes());
  return router;
}

function productRouter(prefix: string, credentials: SandboxCredentials, deps: MtnRouterDeps) {
  const { settings, store, faults } = deps;
  const access = createMtnAccess(credentials, settings);
  const router = new Router({ prefix });
  router.use(faults, answerErrors(settings), requireSubscription(access));

  router.post('/token/', (ctx) => {
    if (!access.isApiUser(ctx.get('Authorization'))) {
      ctx.status = 401;
      ctx.body = { error: 'login_failed' };
      return;
    }
    const { token, lifeSeconds } = access.issueToken();
    ctx.body = { access_token: token, token_type: 'access_token', expires_in: lifeSeconds };
  });

  const authorised = requireToken(access, settings);
  const readBody = bodyParser({ enableTypes: ['json'], jsonLimit: settings.limits.bodyBytes, jsonStrict: false });

  // One account behind both products, though MTN keeps two: what is collected here can be paid out at once.
  router.get('/v1_0/account/balance', authorised, (ctx) => {
    const currency = settings.currencies[0] ?? '';
    ctx.body = { availableBalance: store.balance(currency), currency };
  });

  function serve<T>({ path, kind, read, receive }: Resource<T>): void {
    router.post(path, authorised, readBody, async (ctx) => {
      const referenceId = ctx.get('X-Reference-Id');
      const raw = { referenceId, callbackUrl: ctx.get('X-Callback-Url'), body: ctx.request.body };
      const reading = read(raw, settings);
      if ('refusal' in reading) refuse(ctx, reading.refusal);
      else answerReception(ctx, await receive(reading.order));
    });

    router.get(`${path}/:referenceId`, authorised, (ctx) => {
      const transaction = store.get(String(ctx.params['referenceId']).toLowerCase());
      if (transaction?.kind !== kind || transaction.state === 'NOT_TAKEN') refuse(ctx, NOT_FOUND);
      else ctx.body = toWire(transaction);
    });
  }

  return { router, serve };
}

function answerReception(ctx: Context, reception: Reception): void {
  switch (reception) {
    case 'accepted':
      ctx.body = null;
      ctx.status = 202;
      return;
    case 'duplicate':
      refuse(ctx, DUPLICATE);
      return;
    case 'unavailable':
      refuse(ctx, UNAVAILABLE);
      return;
    case 'accepted_and_cut':
      cutConnection(ctx);
      return;
    case 'original_not_paid':
      refuse(ctx, NOT_FOUND);
      return;
    case 'original_not_refundable':
      refuse(ctx, NOT_ALLOWED);
      return;
  }
}

function answerErrors({ onError }: SandboxSettings): Middleware {
  return async (ctx: Context, next: Next) => {
    try {
      await next();
    } catch (error) {
      const status =
        error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : 500;
      if (status < 500) {
        refuse(ctx, { status, code: 'REQUEST_REJECTED', message: 'The body could not be read.' });
        return;
      }
      onError(error);
      refuse(ctx, INTERNAL);
    }
  };
}

// The body is the API gateway's in front of MTN, which speaks another dialect than MTN itself.
function requireSubscription(access: MtnAccess): Middleware {
  return async (ctx: Context, next: Next) => {
    if (access.hasSubscription(ctx.get('Ocp-Apim-Subscription-Key'))) {
      await next();
      return;
    }
    ctx.status = 401;
    ctx.body = { statusCode: 401, message: 'Access denied due to invalid subscription key.' };
  };
}

function requireToken(access: MtnAccess, { targetEnvironment }: SandboxSettings): Middleware {
  return async (ctx: Context, next: Next) => {
    if (!access.isBearer(ctx.get('Authorization'))) {
      ctx.status = 401;
      ctx.body = { statusCode: 401, message: 'Unauthorized' };
    } else if (ctx.get('X-Target-Environment') !== targetEnvironment) {
      refuse(ctx, WRONG_ENVIRONMENT);
    } else {
      await next();
    }
  };
}
