// MTN's wire as the sandbox operator serves it: token, request-to-pay, its status, and the account's balance.
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { CollectionDesk } from './collection-desk.ts';
import { cutConnection } from './fault-switches.ts';
import type { MtnAccess } from './mtn-access.ts';
import { readRequestToPay, type MtnRefusal } from './mtn-request.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import { toWire } from './transaction.ts';

type MtnRouterDeps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly desk: CollectionDesk;
  readonly access: MtnAccess;
  /** Runs before everything else on this wire. */
  readonly faults: Middleware;
};

const NOT_FOUND: MtnRefusal = {
  status: 404,
  code: 'RESOURCE_NOT_FOUND',
  message: 'Requested resource was not found.',
};
const DUPLICATE: MtnRefusal = {
  status: 409,
  code: 'RESOURCE_ALREADY_EXIST',
  message: 'Duplicated reference id. Creation of resource failed.',
};
const UNAVAILABLE: MtnRefusal = {
  status: 503,
  code: 'SERVICE_UNAVAILABLE',
  message: 'Service temporarily unavailable, try again later.',
};
const WRONG_ENVIRONMENT: MtnRefusal = {
  status: 500,
  code: 'NOT_ALLOWED_TARGET_ENVIRONMENT',
  message: 'Access to target environment is forbidden.',
};
const INTERNAL: MtnRefusal = {
  status: 500,
  code: 'INTERNAL_PROCESSING_ERROR',
  message: 'An internal error occurred while processing.',
};

export function createMtnRouter(deps: MtnRouterDeps): Router {
  const { settings, store, desk, access, faults } = deps;
  const router = new Router({ prefix: '/collection' });
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

  router.post('/v1_0/requesttopay', authorised, readBody, async (ctx) => {
    const referenceId = ctx.get('X-Reference-Id');
    const raw = { referenceId, callbackUrl: ctx.get('X-Callback-Url'), body: ctx.request.body };
    const reading = readRequestToPay(raw, settings);
    if ('refusal' in reading) {
      refuse(ctx, reading.refusal);
      return;
    }
    const reception = await desk.receive(reading.order);
    switch (reception) {
      case 'taken':
        ctx.body = null;
        ctx.status = 202;
        return;
      case 'duplicate':
        refuse(ctx, DUPLICATE);
        return;
      case 'unavailable':
        refuse(ctx, UNAVAILABLE);
        return;
      case 'taken_and_cut':
        cutConnection(ctx);
        return;
    }
  });

  router.get('/v1_0/requesttopay/:referenceId', authorised, (ctx) => {
    const transaction = store.get(String(ctx.params['referenceId']).toLowerCase());
    if (transaction === undefined || transaction.state === 'NOT_TAKEN') refuse(ctx, NOT_FOUND);
    else ctx.body = toWire(transaction);
  });

  router.get('/v1_0/account/balance', authorised, (ctx) => {
    const currency = settings.currencies[0] ?? '';
    ctx.body = { availableBalance: store.paidTotal(currency), currency };
  });

  return router;
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

function refuse(ctx: Context, { status, code, message }: MtnRefusal): void {
  ctx.status = status;
  ctx.body = { code, message };
}
