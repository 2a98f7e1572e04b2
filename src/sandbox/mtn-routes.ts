// MTN's API at the sandbox operator: two products with their tokens, three kinds of payment, and a balance.
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { accountHolder } from './account-holders.ts';
import type { PaymentKind } from './behaviours.ts';
import { cutConnection } from './fault-switches.ts';
import { handleErrors } from './handle-errors.ts';
import { createMtnAccess, type MtnAccess } from './mtn-access.ts';
import {
  accountRefusal,
  DUPLICATE,
  INTERNAL,
  NOT_FOUND,
  NOT_REFUNDABLE,
  refuse,
  UNAVAILABLE,
  WRONG_ENVIRONMENT,
} from './mtn-refusals.ts';
import { readRefund, readRequestToPay, readTransfer, type MtnParseResult, type RawRequest } from './mtn-request.ts';
import type { PaymentIntake } from './payment-intake.ts';
import type { SandboxCredentials, SandboxSettings } from './sandbox-config.ts';
import { seenByQuery } from './seen-by-query.ts';
import type { TransactionStore } from './transaction-store.ts';
import { toWire, type Transaction } from './transaction.ts';
import { sendUnreadable, unreadableQuery, unreadableSend } from './unreadable-answers.ts';

type MtnRouterDeps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly intake: PaymentIntake;
  /** Runs before everything else of this API. */
  readonly faults: Middleware;
};

type IntakeResult = Awaited<ReturnType<PaymentIntake['receiveRefund']>>;

/** One kind of payment: its path, its parser and its intake. */
type Resource<T> = {
  readonly path: string;
  readonly kind: PaymentKind;
  readonly read: (raw: RawRequest, settings: SandboxSettings) => MtnParseResult<T>;
  readonly receive: (request: T) => Promise<IntakeResult>;
};

export function createMtnRouter(deps: MtnRouterDeps): Router {
  const { intake, settings } = deps;
  const collection = productRouter('/collection', settings.collection, deps);
  const disbursement = productRouter('/disbursement', settings.disbursement, deps);
  collection.serve({
    path: '/v1_0/requesttopay',
    kind: 'collection',
    read: readRequestToPay,
    receive: (request) => intake.receive(request),
  });
  disbursement.serve({
    path: '/v1_0/transfer',
    kind: 'payout',
    read: readTransfer,
    receive: (request) => intake.receive(request),
  });
  disbursement.serve({
    path: '/v1_0/refund',
    kind: 'refund',
    read: readRefund,
    receive: (request) => intake.receiveRefund(request),
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
  router.use(faults, handleErrors(settings, refuseUnread), requireSubscription(access));

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

  // MTN has one account per product; here both products share one account, so that collected money can be paid out at once.
  router.get('/v1_0/account/balance', authorised, (ctx) => {
    const currency = settings.currencies[0] ?? '';
    ctx.body = { availableBalance: store.balance(currency), currency };
  });

  router.get('/v1_0/accountholder/msisdn/:msisdn/basicuserinfo', authorised, (ctx) => {
    const holder = accountHolder(String(ctx.params['msisdn']));
    if (holder === null) refuse(ctx, NOT_FOUND);
    else ctx.body = { given_name: holder.given, family_name: holder.family, status: 'ACTIVE' };
  });

  function serve<T>({ path, kind, read, receive }: Resource<T>): void {
    router.post(path, authorised, readBody, async (ctx) => {
      const referenceId = ctx.get('X-Reference-Id');
      const raw = { referenceId, callbackUrl: ctx.get('X-Callback-Url'), body: ctx.request.body };
      const parsed = read(raw, settings);
      if ('refusal' in parsed) {
        refuse(ctx, parsed.refusal);
        return;
      }
      const result = await receive(parsed.request);
      const transaction = store.get(referenceId.toLowerCase());
      const form = unreadableSend(transaction);
      if (form === null) sendIntakeResult(ctx, result, { access, transaction });
      else sendUnreadable(ctx, form, wrongTypes(referenceId));
    });

    router.get(`${path}/:referenceId`, authorised, async (ctx) => {
      const found = store.get(String(ctx.params['referenceId']).toLowerCase());
      const isOfPath = found?.kind === kind && found.wire === 'mtn-momo';
      const transaction = isOfPath ? await seenByQuery(store, found) : undefined;
      const form = await unreadableQuery(transaction, store);
      if (transaction === undefined) refuse(ctx, NOT_FOUND);
      else if (form === null) ctx.body = toWire(transaction);
      else sendUnreadable(ctx, form, wrongTypes(transaction.operatorReference));
    });
  }

  return { router, serve };
}

/** A status in which only the reference has the type that MTN documents. */
function wrongTypes(externalId: string): object {
  return { externalId, status: 7, amount: [], currency: null, financialTransactionId: {}, reason: 0 };
}

function sendIntakeResult(
  ctx: Context,
  result: IntakeResult,
  { access, transaction }: { readonly access: MtnAccess; readonly transaction: Transaction | undefined },
): void {
  switch (result) {
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
    case 'throttled':
      refuseAtGateway(ctx, THROTTLED);
      return;
    case 'token_refused':
      access.revokeToken(ctx.get('Authorization'));
      refuseAtGateway(ctx, UNAUTHORIZED);
      return;
    case 'account_refused':
      refuse(ctx, accountRefusal(transaction?.requestsReceived ?? 1));
      return;
    case 'accepted_and_cut':
      cutConnection(ctx);
      return;
    case 'original_not_paid':
      refuse(ctx, NOT_FOUND);
      return;
    case 'original_not_refundable':
      refuse(ctx, NOT_REFUNDABLE);
      return;
  }
}

function refuseUnread(ctx: Context, status: number): void {
  const unread = { status, code: 'REQUEST_REJECTED', message: 'The body could not be read.' };
  refuse(ctx, status < 500 ? unread : INTERNAL);
}

const UNAUTHORIZED = { statusCode: 401, message: 'Unauthorized' };
const THROTTLED = { statusCode: 429, message: 'Rate limit is exceeded.' };

// The body has the format of the API gateway in front of MTN, which differs from MTN's own.
function refuseAtGateway(ctx: Context, body: { readonly statusCode: number; readonly message: string }): void {
  ctx.status = body.statusCode;
  ctx.body = body;
}

function requireSubscription(access: MtnAccess): Middleware {
  return async (ctx: Context, next: Next) => {
    if (access.hasSubscription(ctx.get('Ocp-Apim-Subscription-Key'))) {
      await next();
      return;
    }
    refuseAtGateway(ctx, { statusCode: 401, message: 'Access denied due to invalid subscription key.' });
  };
}

function requireToken(access: MtnAccess, { targetEnvironment }: SandboxSettings): Middleware {
  return async (ctx: Context, next: Next) => {
    if (!access.isBearer(ctx.get('Authorization'))) {
      refuseAtGateway(ctx, UNAUTHORIZED);
    } else if (ctx.get('X-Target-Environment') !== targetEnvironment) {
      refuse(ctx, WRONG_ENVIRONMENT);
    } else {
      await next();
    }
  };
}
