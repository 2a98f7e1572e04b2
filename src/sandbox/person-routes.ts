// The pages where people decide payments: payers at the handset page, the operator's staff at the operator page.
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { z } from 'zod';
import { CANCELLED, NOT_PAID_OUT, PAID, WRONG_PIN, type Outcome, type PaymentKind } from './behaviours.ts';
import type { Decisions } from './decisions.ts';
import { choosePhone, handset } from './handset-page.ts';
import { sendPage, markup } from './markup.ts';
import { operatorPage } from './operator-page.ts';
import { queryValue } from './query-value.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import type { Transaction } from './transaction.ts';
import { transactionsPage } from './transactions-page.ts';
import { money, outcomeText } from './words.ts';

type PersonDeps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly decisions: Decisions;
};

const PHONE = /^[1-9]\d{7,14}$/;
const PIN = /^\d{4,5}$/;
const REFRESH_SECONDS = 3;
const MAX_PROMPTS = 5;
const MAX_DECIDED = 5;
const MAX_CARDS = 20;
const LONGEST_LIST = 1000;
const MAX_ROWS = 50;

const handsetForm = z.object({
  reference: z.string().max(100),
  pin: z.string().max(100).default(''),
  choice: z.enum(['approve', 'wrong_pin', 'cancel']),
});
const transactionForm = z.object({ reference: z.string().max(100), choice: z.enum(['approve', 'decline']) });
const operatorForm = z.object({ reference: z.string().max(100), choice: z.enum(['approve', 'fail']) });

export function createPersonRouter(deps: PersonDeps): Router {
  const { settings, store } = deps;
  const router = new Router({ prefix: '/sandbox' });
  const readForm = bodyParser({ enableTypes: ['form'], formLimit: settings.limits.bodyBytes });

  /** A form with which a person decides a payment of these kinds; 404 for other payments. */
  function onForm<Form extends { readonly reference: string }>(
    path: string,
    { schema, kinds }: { readonly schema: z.ZodType<Form>; readonly kinds: readonly PaymentKind[] },
    handle: (ctx: Context, payment: Transaction, form: Form) => Promise<void>,
  ): void {
    router.post(path, refuseOtherSites, readForm, async (ctx) => {
      const form = schema.safeParse(ctx.request.body);
      const payment = form.success ? store.get(form.data.reference) : undefined;
      if (form.success && payment !== undefined && kinds.includes(payment.kind)) await handle(ctx, payment, form.data);
      else sendGone(ctx);
    });
  }

  router.get('/handset', (ctx) => {
    const phone = readPhone(ctx);
    if (phone === undefined || !PHONE.test(phone)) showPhones(ctx, deps, phone ?? null);
    else showHandset(ctx, deps, { phone, refusedPin: null });
  });

  onForm('/handset', { schema: handsetForm, kinds: ['collection'] }, async (ctx, prompt, { choice, pin }) => {
    if (choice === 'approve' && !PIN.test(pin.trim())) {
      ctx.status = 400;
      showHandset(ctx, deps, { phone: prompt.phone, refusedPin: prompt.operatorReference });
      return;
    }
    const outcomes = { approve: PAID, wrong_pin: WRONG_PIN, cancel: CANCELLED };
    await decide(ctx, deps, `/sandbox/handset?phone=${prompt.phone}&`, { payment: prompt, outcome: outcomes[choice] });
  });

  router.get('/operator', (ctx) => {
    showOperator(ctx, deps);
  });

  onForm('/operator', { schema: operatorForm, kinds: ['payout', 'refund'] }, async (ctx, payment, { choice }) => {
    const outcomes = { approve: PAID, fail: NOT_PAID_OUT };
    await decide(ctx, deps, '/sandbox/operator?', { payment, outcome: outcomes[choice] });
  });

  // The pages are for browsers; programs get the same data as JSON from the inspection routes.
  router.get('/transactions', async (ctx, next) => {
    if (ctx.accepts('json', 'html') === 'html') showTransactions(ctx, deps);
    else await next();
  });

  const everyKind = ['collection', 'payout', 'refund'] as const;
  onForm('/transactions', { schema: transactionForm, kinds: everyKind }, async (ctx, payment, { choice }) => {
    const declined = payment.kind === 'collection' ? CANCELLED : NOT_PAID_OUT;
    const outcome = choice === 'approve' ? PAID : declined;
    await decide(ctx, deps, `/sandbox/transactions?${searchFor(readPhone(ctx))}`, { payment, outcome });
  });

  return router;
}

// Redirects, so that reloading the page does not repeat the decision.
async function decide(
  ctx: Context,
  { decisions }: PersonDeps,
  backTo: string,
  { payment: { operatorReference }, outcome }: { payment: Transaction; outcome: Outcome },
): Promise<void> {
  const result = await decisions.decideByPerson(operatorReference, outcome);
  ctx.redirect(`${backTo}${result === 'decided' ? 'answered' : 'late'}=${operatorReference}`);
  ctx.status = 303;
}

function readPhone(ctx: Context): string | undefined {
  return queryValue(ctx, 'phone')?.replace(/^\+|\s/g, '');
}

function searchFor(phone: string | undefined): string {
  return phone === undefined || !PHONE.test(phone) ? '' : `phone=${phone}&`;
}

function showTransactions(ctx: Context, { store }: PersonDeps): void {
  const phone = readPhone(ctx);
  const search = searchFor(phone);
  sendPage(ctx, {
    title: 'Transactions',
    isWide: true,
    isLive: true,
    content: transactionsPage({
      shown: store.list(search === '' || phone === undefined ? {} : { phone }, MAX_ROWS),
      phone: phone ?? '',
      notice: noticeFor(ctx, store),
      search: search === '' ? '' : `?${search.slice(0, -1)}`,
    }),
  });
}

function showPhones(ctx: Context, { store }: PersonDeps, wrongPhone: string | null): void {
  const ringing = store.list({ kind: 'collection', state: 'PENDING' }, LONGEST_LIST).map(({ phone }) => phone);
  const phones = [...new Set(ringing)].slice(0, MAX_CARDS);
  if (wrongPhone !== null) ctx.status = 400;
  sendPage(ctx, { title: 'Handset', content: choosePhone(phones, wrongPhone), isLive: true });
}

function showHandset(ctx: Context, { store }: PersonDeps, view: { phone: string; refusedPin: string | null }): void {
  const { phone } = view;
  const all = store.list({ kind: 'collection', phone }, LONGEST_LIST);
  const prompts = all.filter(({ state }) => state === 'PENDING').slice(-MAX_PROMPTS);
  const decided = all.filter(({ decidedAtMs }) => decidedAtMs !== null);
  decided.sort((a, b) => (b.decidedAtMs ?? 0) - (a.decidedAtMs ?? 0));
  sendPage(ctx, {
    title: 'Handset',
    content: handset({
      ...view,
      prompts: prompts.reverse(),
      decided: decided.slice(0, MAX_DECIDED),
      notice: noticeFor(ctx, store),
    }),
    isLive: true,
    ...(prompts.length === 0 && { refreshSeconds: REFRESH_SECONDS }),
  });
}

function showOperator(ctx: Context, { store, settings }: PersonDeps): void {
  const undecided = (['payout', 'refund'] as const)
    .flatMap((kind) => store.list({ kind, state: 'PENDING' }, LONGEST_LIST))
    .sort((a, b) => a.receivedAtMs - b.receivedAtMs);
  const waiting = undecided.slice(0, MAX_CARDS);
  const currencies = new Set([...settings.currencies.slice(0, 1), ...waiting.map(({ currency }) => currency)]);
  const account = [...currencies].map((currency) => ({ amount: store.balance(currency), currency }));
  const unshown = undecided.length - waiting.length;
  sendPage(ctx, {
    title: 'Operator',
    content: operatorPage({ waiting, unshown, account, notice: noticeFor(ctx, store) }),
    isLive: true,
    ...(waiting.length === 0 && { refreshSeconds: REFRESH_SECONDS }),
  });
}

function noticeFor(ctx: Context, store: TransactionStore): string | null {
  const answered = store.get(queryValue(ctx, 'answered') ?? '');
  if (answered !== undefined) return `${money(answered)}: ${outcomeText(answered)}.`;
  const late = store.get(queryValue(ctx, 'late') ?? '');
  return late === undefined ? null : `Too late, it was decided before. ${money(late)}: ${outcomeText(late)}.`;
}

function sendGone(ctx: Context): void {
  ctx.status = 404;
  sendPage(ctx, { title: 'Not there', content: markup`<p>There is no such payment to decide any more.</p>` });
}

// These pages need no password, so another site's page in the same browser must not be able to press their buttons.
const refuseOtherSites: Middleware = async (ctx: Context, next: Next) => {
  if (['', 'same-origin', 'none'].includes(ctx.get('Sec-Fetch-Site'))) {
    await next();
    return;
  }
  ctx.status = 403;
  sendPage(ctx, { title: 'Not from here', content: markup`<p>Use the buttons of this page itself.</p>` });
};
