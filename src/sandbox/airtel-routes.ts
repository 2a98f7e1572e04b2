// Airtel's API at the sandbox operator: tokens, its public key, signed collections and refunds, disbursements and enquiries.
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { accountHolder } from './account-holders.ts';
import {
  accountRefusal,
  ALREADY_REFUNDED,
  AMOUNT_REFUSED,
  answer,
  CODELESS,
  DUPLICATE,
  enquiry,
  GENERAL_ERROR,
  IN_PROCESS,
  INVALID_REQUEST,
  NOT_FOUND,
  refundTaken,
  WRONG_MARKET,
  WRONG_OWN_PIN,
  WRONG_SIGNATURE,
} from './airtel-answers.ts';
import { createAirtelKeys, type AirtelKeys } from './airtel-keys.ts';
import { refundOfReceipt, seenByEnquiry } from './airtel-refunds.ts';
import { isMarket, phoneIn, readDisbursement, readPushPayment, readRefund, type AirtelRead } from './airtel-request.ts';
import { createBearerTokens, type BearerTokens } from './bearer-tokens.ts';
import { cutConnection } from './fault-switches.ts';
import { handleErrors } from './handle-errors.ts';
import type { PaymentIntake } from './payment-intake.ts';
import { isSameSecret } from './same-secret.ts';
import type { SandboxAirtel, SandboxSettings } from './sandbox-config.ts';
import type { Transaction } from './transaction.ts';
import type { TransactionStore } from './transaction-store.ts';
import { sendUnreadable, unreadableQuery, unreadableSend } from './unreadable-answers.ts';

type AirtelRouterDeps = {
  readonly settings: SandboxSettings;
  readonly airtel: SandboxAirtel;
  readonly store: TransactionStore;
  readonly intake: PaymentIntake;
  /** Runs before everything else of this API. */
  readonly faults: Middleware;
};

type Kind = 'collection' | 'payout';

/** One kind of payment: its paths for requests and enquiries, and the reader of its requests. */
type Resource = {
  readonly kind: Kind;
  readonly path: string;
  readonly enquiries: string;
  readonly read: (body: unknown, country: string) => AirtelRead;
};

const RESOURCES: readonly Resource[] = [
  {
    kind: 'collection',
    path: '/merchant/v2/payments/',
    enquiries: '/standard/v1/payments',
    read: readPushPayment,
  },
  {
    kind: 'payout',
    path: '/standard/v2/disbursements/',
    enquiries: '/standard/v1/disbursements',
    read: readDisbursement,
  },
];

export function createAirtelRouter(deps: AirtelRouterDeps): Router {
  const { settings, airtel, store, faults } = deps;
  const { limits, times } = settings;
  const tokens = createBearerTokens(times.airtelTokenLifeMs, limits.tokens);
  const keys = createAirtelKeys();
  const router = new Router();
  const around = [faults, handleErrors(settings, refuseUnread)] as const;
  const readBody = bodyParser({ enableTypes: ['json'], jsonLimit: limits.bodyBytes, jsonStrict: false });

  router.post('/auth/oauth2/token', ...around, readBody, (ctx) => {
    const given = (ctx.request.body ?? {}) as Readonly<Record<string, unknown>>;
    const isClient =
      isSameSecret(String(given['client_id']), airtel.clientId) &&
      isSameSecret(String(given['client_secret']), airtel.clientSecret) &&
      given['grant_type'] === 'client_credentials';
    if (!isClient) {
      ctx.status = 401;
      ctx.body = { error: 'invalid_client', error_description: 'Invalid client authentication' };
      return;
    }
    const { token, lifeSeconds } = tokens.issue();
    ctx.body = { access_token: token, token_type: 'bearer', expires_in: String(lifeSeconds) };
  });

  const authorised: Middleware = async (ctx: Context, next: Next) => {
    if (!tokens.isBearer(ctx.get('Authorization'))) {
      refuseToken(ctx);
    } else if (!isMarket(ctx.get('X-Country'), ctx.get('X-Currency'))) {
      ctx.body = answer(WRONG_MARKET, false);
    } else {
      await next();
    }
  };

  router.get('/v1/rsa/encryption-keys', ...around, authorised, async (ctx) => {
    ctx.body = answer({ result_code: 'ESB000010' }, true, { key_id: '1', key: await keys.publicKey() });
  });

  router.get('/standard/v1/users/:msisdn', ...around, authorised, (ctx) => {
    const holder = accountHolder(phoneIn(ctx.get('X-Country'), String(ctx.params['msisdn'])));
    if (holder === null) ctx.body = answer(NOT_FOUND, false);
    else ctx.body = answer({ result_code: 'ESB000010' }, true, { first_name: holder.given, last_name: holder.family });
  });

  for (const { kind, path, enquiries, read } of RESOURCES) {
    router.post(path, ...around, authorised, readBody, async (ctx) => {
      const request = await requestIn(ctx, kind, read, { keys, airtel });
      if ('refusal' in request) ctx.body = answer(request.refusal, false);
      else await take(ctx, kind, request, { ...deps, tokens });
    });

    router.get(`${enquiries}/:id`, ...around, authorised, async (ctx) => {
      const found = store.get(String(ctx.params['id']).toLowerCase());
      const isOfPath = found?.wire === 'airtel-money' && found.kind === kind;
      const { transaction, isRefunded, answeredAs } = await seenByEnquiry(isOfPath ? found : undefined, store);
      const form = await unreadableQuery(answeredAs, store);
      if (transaction === undefined) ctx.body = answer(NOT_FOUND, false);
      else if (form === null) ctx.body = enquiry(transaction, times, isRefunded);
      else sendUnreadable(ctx, form, CODELESS);
    });
  }

  router.post('/standard/v2/payments/refund', ...around, authorised, readBody, async (ctx) => {
    const refusal = await refund(ctx, { ...deps, tokens, keys });
    if (refusal !== null) ctx.body = answer(refusal, false);
  });
  return router;
}

type Refusal = { readonly refusal: Parameters<typeof answer>[0] };

async function requestIn(
  ctx: Context,
  kind: Kind,
  read: Resource['read'],
  { keys, airtel }: { readonly keys: AirtelKeys; readonly airtel: SandboxAirtel },
): Promise<Extract<AirtelRead, { request: unknown }> | Refusal> {
  const { body, rawBody } = ctx.request as { body?: unknown; rawBody?: string };
  if (!(await keys.isSigned(rawBody ?? '', ctx.get('x-signature'), ctx.get('x-key')))) {
    return { refusal: WRONG_SIGNATURE(kind) };
  }
  const parsed = read(body, ctx.get('X-Country'));
  if (!('request' in parsed)) return { refusal: parsed.problem === 'amount' ? AMOUNT_REFUSED(kind) : INVALID_REQUEST };
  if (parsed.pin !== null && (await keys.decrypted(parsed.pin)) !== airtel.pin) return { refusal: WRONG_OWN_PIN(kind) };
  return parsed;
}

type Taking = AirtelRouterDeps & { readonly tokens: BearerTokens };

async function take(
  ctx: Context,
  kind: Kind,
  { request }: Extract<AirtelRead, { request: unknown }>,
  deps: Taking,
): Promise<void> {
  const { intake, airtel, store } = deps;
  const result = await intake.receive({ ...request, callbackUrl: airtel.callbackUrl ?? null });
  const transaction = store.get(request.operatorReference);
  const accepted = () => answer(IN_PROCESS(kind), true, { transaction: { id: request.externalId, status: 'SUCCESS' } });
  const refused = () => accountRefusal(kind, transaction?.requestsReceived ?? 1);
  respond(ctx, { result, transaction, accepted, duplicate: DUPLICATE, refused }, deps);
}

/** Returns the refusal of a refund that names no paid collection, or one that is refunded. */
async function refund(ctx: Context, deps: Taking & { readonly keys: AirtelKeys }): Promise<Refusal['refusal'] | null> {
  const { keys, store, intake } = deps;
  const { body, rawBody } = ctx.request as { body?: unknown; rawBody?: string };
  if (!(await keys.isSigned(rawBody ?? '', ctx.get('x-signature'), ctx.get('x-key')))) {
    return WRONG_SIGNATURE('collection');
  }
  const parsed = readRefund(body);
  if ('problem' in parsed) return INVALID_REQUEST;
  const { receipt } = parsed;
  const request = refundOfReceipt(receipt, store);
  if (request === null) return NOT_FOUND;
  const result = await intake.receiveRefund(request);
  if (result === 'original_not_paid') return NOT_FOUND;
  if (result === 'original_not_refundable') return ALREADY_REFUNDED;
  const transaction = store.get(request.operatorReference);
  // A refund has no PIN: only its signature can be refused.
  const refused = () => WRONG_SIGNATURE('collection');
  const accepted = () => refundTaken(receipt);
  respond(ctx, { result, transaction, accepted, duplicate: ALREADY_REFUNDED, refused }, deps);
  return null;
}

type Taken = {
  readonly result: Exclude<Awaited<ReturnType<PaymentIntake['receiveRefund']>>, `original_${string}`>;
  readonly transaction: Transaction | undefined;
  readonly accepted: () => object;
  readonly duplicate: Refusal['refusal'];
  readonly refused: () => Refusal['refusal'];
};

function respond(ctx: Context, { result, transaction, accepted, duplicate, refused }: Taken, { tokens }: Taking): void {
  const form = unreadableSend(transaction);
  if (form !== null) {
    sendUnreadable(ctx, form, CODELESS);
    return;
  }
  switch (result) {
    case 'account_refused':
      ctx.body = answer(refused(), false);
      return;
    case 'accepted':
      ctx.body = accepted();
      return;
    case 'duplicate':
      ctx.body = answer(duplicate, false);
      return;
    case 'unavailable':
      ctx.status = 500;
      ctx.body = answer(GENERAL_ERROR, false);
      return;
    case 'throttled':
      ctx.status = 429;
      ctx.body = answer(GENERAL_ERROR, false);
      return;
    case 'token_refused':
      tokens.revoke(ctx.get('Authorization'));
      refuseToken(ctx);
      return;
    case 'accepted_and_cut':
      cutConnection(ctx);
      return;
  }
}

function refuseToken(ctx: Context): void {
  ctx.status = 401;
  ctx.body = { error: 'unauthorized', error_description: 'Access token expired or not valid' };
}

function refuseUnread(ctx: Context, status: number): void {
  ctx.status = status;
  ctx.body = answer(status < 500 ? INVALID_REQUEST : GENERAL_ERROR, false);
}
