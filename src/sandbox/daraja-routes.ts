// Safaricom's Daraja at the sandbox operator: tokens, prompts and their queries, payouts, reversals, and requests that are answered later.
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { accountHolder } from './account-holders.ts';
import { createBearerTokens, type BearerTokens } from './bearer-tokens.ts';
import type { PaymentKind } from './behaviours.ts';
import {
  DUPLICATE,
  INTERNAL,
  NOT_REVERSIBLE,
  NOT_VISIBLE,
  promptStatus,
  refuse,
  REFUSED_AS,
  REVERSED_ALREADY,
  THROTTLED,
  UNAVAILABLE,
  UNKNOWN_MERCHANT,
  UNREAD,
  WRONG_CLIENT,
  WRONG_GRANT,
  WRONG_PASSWORD,
  WRONG_PRODUCT,
  WRONG_TOKEN,
  WRONG_TYPES,
  wrongField,
  type DarajaError,
  type ResultIds,
} from './daraja-answers.ts';
import { withReceipt, type DarajaCommands } from './daraja-commands.ts';
import { newCheckoutRequestId, newConversationId, newRequestId } from './daraja-ids.ts';
import { createDarajaKeys, type DarajaKeys } from './daraja-keys.ts';
import { pullPage } from './daraja-pull.ts';
import {
  readAccountBalance,
  readB2c,
  readNameLookUp,
  readPull,
  readReversal,
  readStkPush,
  readStkQuery,
  readTransactionStatus,
  type DarajaB2c,
  type DarajaCommand,
  type DarajaRead,
  type DarajaReversal,
  type DarajaStkPush,
} from './daraja-request.ts';
import { cutConnection } from './fault-switches.ts';
import { handleErrors } from './handle-errors.ts';
import type { PaymentIntake } from './payment-intake.ts';
import { queryValue } from './query-value.ts';
import { isSameSecret } from './same-secret.ts';
import type { SandboxDaraja, SandboxSettings } from './sandbox-config.ts';
import { seenByQuery } from './seen-by-query.ts';
import type { TransactionStore } from './transaction-store.ts';
import type { SandboxRequest, Transaction } from './transaction.ts';
import { sendUnreadable, unreadableQuery, unreadableSend, type UnreadableForm } from './unreadable-answers.ts';

type DarajaRouterDeps = {
  readonly settings: SandboxSettings;
  readonly daraja: SandboxDaraja;
  readonly store: TransactionStore;
  readonly intake: PaymentIntake;
  readonly commands: DarajaCommands;
  /** Runs before everything else of this API. */
  readonly faults: Middleware;
};

type Serving = DarajaRouterDeps & { readonly keys: DarajaKeys; readonly tokens: BearerTokens };
type Serve<T> = (ctx: Context, request: T, serving: Serving) => Promise<void> | void;

/** Phones cannot show a prompt with longer texts. */
const LONGEST = { reference: 12, description: 13 };
const PAYOUT_BOUNDS = { least: 10, most: 250_000 };

export function createDarajaRouter(deps: DarajaRouterDeps): Router {
  const { settings, daraja, faults } = deps;
  const { limits, times } = settings;
  const keys = createDarajaKeys(daraja.privateKey);
  // A new token invalidates the previous one.
  const tokens = createBearerTokens(times.darajaTokenLifeMs, 1);
  const router = new Router();
  const around = [faults, handleErrors(settings, refuseUnread)] as const;
  const readBody = bodyParser({ enableTypes: ['json'], jsonLimit: limits.bodyBytes, jsonStrict: false });
  const basic = `Basic ${Buffer.from(`${daraja.consumerKey}:${daraja.consumerSecret}`).toString('base64')}`;

  router.get('/sandbox/daraja/certificate', async (ctx) => {
    ctx.type = 'application/x-pem-file';
    ctx.body = await keys.certificate();
  });

  router.get('/oauth/v1/generate', ...around, (ctx) => {
    if (queryValue(ctx, 'grant_type') !== 'client_credentials') refuse(ctx, WRONG_GRANT);
    else if (!isSameSecret(ctx.get('Authorization'), basic)) refuse(ctx, WRONG_CLIENT);
    else {
      const { token, lifeSeconds } = tokens.issue();
      ctx.body = { access_token: token, expires_in: String(lifeSeconds) };
    }
  });

  const authorised: Middleware = async (ctx: Context, next: Next) => {
    if (tokens.isBearer(ctx.get('Authorization'))) await next();
    else refuse(ctx, WRONG_TOKEN);
  };

  function post<T>(path: string, read: (body: unknown) => DarajaRead<T>, serve: Serve<T>): void {
    router.post(path, ...around, authorised, readBody, async (ctx) => {
      const parsed = read(ctx.request.body);
      if ('wrong' in parsed) refuse(ctx, wrongField(parsed.wrong));
      else await serve(ctx, parsed.request, { ...deps, keys, tokens });
    });
  }

  post('/mpesa/stkpush/v1/processrequest', readStkPush, prompt);
  post('/mpesa/stkpushquery/v1/query', readStkQuery, queryPrompt);
  post('/mpesa/b2c/v3/paymentrequest', readB2c, payOut);
  post('/mpesa/transactionstatus/v1/query', readTransactionStatus, (ctx, request, serving) =>
    command(ctx, request, serving, {
      party: ['PartyA', request.PartyA],
      ask: (isInitiator) => serving.commands.askStatus({ request, isInitiator }),
    }),
  );
  post('/mpesa/accountbalance/v1/query', readAccountBalance, (ctx, request, serving) =>
    command(ctx, request, serving, {
      party: ['PartyA', request.PartyA],
      ask: (isInitiator) => serving.commands.askBalance({ request, isInitiator }),
    }),
  );
  post('/mpesa/reversal/v1/request', readReversal, reverse);
  post('/mpesa/b2c/hakikisha/v1/hakikisha', readNameLookUp, lookUpName);
  post('/pulltransactions/v1/query', readPull, (ctx, request, { store }) => {
    const isOurs = request.ShortCode === daraja.shortcode;
    const page = isOurs ? pullPage(store, request, limits.pullRows) : null;
    if (page === null) refuse(ctx, wrongField(isOurs ? 'StartDate' : 'ShortCode'));
    else ctx.body = page;
  });
  return router;
}

type Merchant = Pick<DarajaStkPush, 'BusinessShortCode' | 'Password' | 'Timestamp'>;

function merchantRefusal(
  { BusinessShortCode, Password, Timestamp }: Merchant,
  daraja: SandboxDaraja,
): DarajaError | null {
  const { shortcode, passkey } = daraja;
  if (BusinessShortCode !== shortcode) return UNKNOWN_MERCHANT;
  const expected = Buffer.from(shortcode + passkey + Timestamp).toString('base64');
  return isSameSecret(Password, expected) ? null : WRONG_PASSWORD;
}

async function prompt(ctx: Context, request: DarajaStkPush, serving: Serving): Promise<void> {
  const { daraja, intake, store, tokens } = serving;
  const refusal = merchantRefusal(request, daraja);
  if (refusal !== null) {
    refuse(ctx, refusal);
    return;
  }
  const { PhoneNumber, AccountReference, TransactionDesc } = request;
  // Each request is a payment of its own, except that refused requests before an acceptance count for the same payment.
  const refused = store.promptsFor(AccountReference).find(({ state }) => state === 'NOT_ACCEPTED');
  const issuedId = refused?.issuedId ?? newCheckoutRequestId(PhoneNumber);
  const requestId = refused?.requestId ?? newRequestId();
  const isTooLong = AccountReference.length > LONGEST.reference || TransactionDesc.length > LONGEST.description;
  const payment = { phone: PhoneNumber, amount: request.Amount, externalId: AccountReference };
  const result = await intake.receive({
    ...requestOf('collection', { ...payment, note: TransactionDesc, callbackUrl: request.CallBackURL }),
    operatorReference: issuedId.toLowerCase(),
    issuedId,
    requestId,
    refusedAs: isTooLong ? REFUSED_AS.tooLong : null,
  });
  const text = 'Success. Request accepted for processing';
  const ids = { MerchantRequestID: requestId, CheckoutRequestID: issuedId };
  const acceptance = { ...ids, ResponseCode: '0', ResponseDescription: text, CustomerMessage: text };
  const unreadable = unreadableSend(store.get(issuedId.toLowerCase()));
  sendIntakeResult(ctx, result, { acceptance, tokens, unreadable });
}

async function queryPrompt(
  ctx: Context,
  request: Merchant & { readonly CheckoutRequestID: string },
  { daraja, store }: Serving,
): Promise<void> {
  const refusal = merchantRefusal(request, daraja);
  if (refusal !== null) {
    refuse(ctx, refusal);
    return;
  }
  const found = store.issued(request.CheckoutRequestID);
  const transaction = found?.kind === 'collection' ? await seenByQuery(store, found) : undefined;
  const form = await unreadableQuery(transaction, store);
  if (transaction === undefined) refuse(ctx, NOT_VISIBLE);
  else if (form === null) ctx.body = promptStatus(transaction);
  else sendUnreadable(ctx, form, WRONG_TYPES);
}

async function payOut(ctx: Context, request: DarajaB2c, serving: Serving): Promise<void> {
  const { daraja, intake, keys, store, tokens } = serving;
  const { OriginatorConversationID: id, PartyA, PartyB, Amount, InitiatorName: name } = request;
  if (PartyA !== daraja.payoutShortcode) {
    refuse(ctx, wrongField('PartyA'));
    return;
  }
  const isInitiator = await hasInitiator(name, request.SecurityCredential, { daraja, keys });
  const known = store.get(id.toLowerCase());
  const issuedId = known?.issuedId ?? newConversationId();
  const payment = { phone: PartyB, amount: Amount, externalId: id };
  const result = await intake.receive({
    ...requestOf('payout', { ...payment, note: request.Remarks, callbackUrl: request.ResultURL }),
    operatorReference: id.toLowerCase(),
    issuedId,
    timeoutUrl: request.QueueTimeOutURL,
    refusedAs: isInitiator ? outOfBounds(Number(Amount)) : REFUSED_AS.initiator,
  });
  const acceptance = accepted({ originatorId: id, conversationId: issuedId });
  const unreadable = unreadableSend(store.get(id.toLowerCase()));
  sendIntakeResult(ctx, result, { acceptance, tokens, unreadable });
}

function outOfBounds(amount: number): Transaction['refusedAs'] {
  if (amount < PAYOUT_BOUNDS.least) return REFUSED_AS.tooLow;
  return amount > PAYOUT_BOUNDS.most ? REFUSED_AS.tooHigh : null;
}

// M-Pesa reverses payments of customers, and no payouts. Each request is a reversal of its own, as for prompts.
async function reverse(ctx: Context, request: DarajaReversal, serving: Serving): Promise<void> {
  const { daraja, commands, intake, store, tokens } = serving;
  if (request.ReceiverParty !== daraja.shortcode) {
    refuse(ctx, wrongField('ReceiverParty'));
    return;
  }
  const isInitiator = await hasInitiator(request.Initiator, request.SecurityCredential, serving);
  const found = withReceipt(store, request.TransactionID);
  const original = found?.kind === 'collection' ? found.operatorReference : '';
  const isRefused = ({ originalReference: of, state }: Transaction) => of === original && state === 'NOT_ACCEPTED';
  const refused = store.list({ kind: 'refund', wire: 'daraja' }, Infinity).find(isRefused);
  const ids = {
    originatorId: refused?.externalId ?? newRequestId(),
    conversationId: refused?.issuedId ?? newConversationId(),
  };
  const fields = { amount: request.Amount, externalId: ids.originatorId, note: request.Remarks };
  const result = await intake.receiveRefund({
    ...requestOf('refund', { ...fields, phone: '', callbackUrl: request.ResultURL }),
    operatorReference: ids.originatorId.toLowerCase(),
    originalReference: original,
    issuedId: ids.conversationId,
    timeoutUrl: request.QueueTimeOutURL,
    refusedAs: isInitiator ? null : REFUSED_AS.initiator,
  });
  if (result === 'original_not_paid' || result === 'original_not_refundable') {
    const said = (await countReversal(store, original)) ? REVERSED_ALREADY : NOT_REVERSIBLE;
    ctx.body = accepted(commands.refuseReversal({ request, isInitiator }, said));
    return;
  }
  const unreadable = unreadableSend(store.get(ids.originatorId.toLowerCase()));
  sendIntakeResult(ctx, result, { acceptance: accepted(ids), tokens, unreadable });
}

/** Counts a further request to reverse this payment; false if it is not reversed. */
async function countReversal(store: TransactionStore, original: string): Promise<boolean> {
  const earlier = store.refundOf(original);
  if (earlier !== undefined) await store.put({ ...earlier, requestsReceived: earlier.requestsReceived + 1 });
  return earlier !== undefined || (store.get(original)?.givenBackAtMs ?? null) !== null;
}

async function command(
  ctx: Context,
  { Initiator, SecurityCredential }: DarajaCommand,
  { daraja, keys }: Serving,
  { party: [field, party], ask }: { party: readonly [string, string]; ask: (isInitiator: boolean) => ResultIds },
): Promise<void> {
  if (![daraja.shortcode, daraja.payoutShortcode].includes(party)) {
    refuse(ctx, wrongField(field));
    return;
  }
  ctx.body = accepted(ask(await hasInitiator(Initiator, SecurityCredential, { daraja, keys })));
}

async function hasInitiator(
  name: string,
  credential: string,
  { daraja, keys }: Pick<Serving, 'daraja' | 'keys'>,
): Promise<boolean> {
  const password = await keys.decrypted(credential);
  return name === daraja.initiatorName && password !== null && isSameSecret(password, daraja.initiatorPassword);
}

function accepted({ originatorId, conversationId }: ResultIds): object {
  return {
    ConversationID: conversationId,
    OriginatorConversationID: originatorId,
    ResponseCode: '0',
    ResponseDescription: 'Accept the service request successfully.',
  };
}

type NameLookUp = {
  readonly header: { readonly requestID: string };
  readonly body: { msisdn: string; shortcode: string };
};

// The first name is readable, the other names are masked.
function lookUpName(ctx: Context, { header, body }: NameLookUp, { daraja }: Serving): void {
  if (body.shortcode !== daraja.payoutShortcode) {
    refuse(ctx, wrongField('shortcode'));
    return;
  }
  const timestamp = String(Math.floor(Date.now() / 1000));
  const holder = accountHolder(body.msisdn);
  const isKnown = holder !== null;
  ctx.body = {
    header: {
      requestID: header.requestID,
      timestamp,
      ...(isKnown ? { status: '200', message: 'Success' } : { status: '400', message: 'Error' }),
    },
    body: isKnown
      ? { firstName: holder.given, middleName: '', lastName: `${holder.family.slice(0, 1)}******` }
      : { message: 'The customer does not exist.' },
  };
}

type Fields = Pick<SandboxRequest, 'phone' | 'amount' | 'externalId' | 'callbackUrl'> & { readonly note: string };

function requestOf<Kind extends PaymentKind>(
  kind: Kind,
  fields: Fields,
): Omit<SandboxRequest, 'operatorReference' | 'kind'> & { readonly kind: Kind } {
  const { note, ...payment } = fields;
  return {
    ...payment,
    kind,
    wire: 'daraja',
    originalReference: null,
    currency: 'KES',
    payerMessage: note,
    payeeNote: note,
  };
}

type Answering = {
  readonly acceptance: object;
  readonly tokens: BearerTokens;
  readonly unreadable: UnreadableForm | null;
};

function sendIntakeResult(
  ctx: Context,
  result: Awaited<ReturnType<PaymentIntake['receive']>>,
  { acceptance, tokens, unreadable }: Answering,
): void {
  if (unreadable !== null) {
    sendUnreadable(ctx, unreadable, WRONG_TYPES);
    return;
  }
  switch (result) {
    case 'accepted':
      ctx.body = acceptance;
      return;
    case 'duplicate':
      refuse(ctx, DUPLICATE);
      return;
    case 'unavailable':
      refuse(ctx, UNAVAILABLE);
      return;
    case 'throttled':
      refuse(ctx, THROTTLED);
      return;
    case 'token_refused':
      tokens.revoke(ctx.get('Authorization'));
      refuse(ctx, WRONG_TOKEN);
      return;
    case 'account_refused':
      refuse(ctx, WRONG_PRODUCT);
      return;
    case 'accepted_and_cut':
      cutConnection(ctx);
      return;
  }
}

function refuseUnread(ctx: Context, status: number): void {
  refuse(ctx, status < 500 ? UNREAD : INTERNAL);
}
