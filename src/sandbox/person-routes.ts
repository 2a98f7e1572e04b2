// Where people decide what the table leaves to them: payers at the handset page, the operator's staff at its own.
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { z } from 'zod';
import { CANCELLED, NOT_PAID_OUT, PAID, WRONG_PIN, type Ending } from './behaviours.ts';
import type { Decisions } from './decisions.ts';
import { choosePhone, handset, money, outcomeOf } from './handset-page.ts';
import { answerPage, markup } from './markup.ts';
import { operatorPage } from './operator-page.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import type { Transaction } from './transaction.ts';

type PersonDeps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly decisions: Decisions;
};

const PHONE = /^[1-9]\d{7,14}$/;
const PIN = /^\d{4,5}$/;
const REFRESH_SECONDS = 3;
const MOST_PROMPTS = 5;
const MOST_ENDED = 5;
const MOST_CARDS = 20;
const LONGEST_LIST = 1000;

const handsetForm = z.object({
  reference: z.string().max(100),
  pin: z.string().max(100).default(''),
  choice: z.enum(['approve', 'wrong_pin', 'cancel']),
});
const operatorForm = z.object({ reference: z.string().max(100), choice: z.enum(['approve', 'fail']) });

export function createPersonRouter(deps: PersonDeps): Router {
  const { settings, store, decisions } = deps;
  const router = new Router({ prefix: '/sandbox' });
  const readForm = bodyParser({ enableTypes: ['form'], formLimit: settings.limits.bodyBytes });

  router.get('/handset', (ctx) => {
    const phone = one(ctx.query['phone'])?.replace(/^\+|\s/g, '');
    if (phone === undefined || !PHONE.test(phone)) showPhones(ctx, deps, phone ?? null);
    else showHandset(ctx, deps, { phone, refusedPin: null });
  });

  router.post('/handset', refuseOtherSites, readForm, async (ctx) => {
    const form = handsetForm.safeParse(ctx.request.body);
    const prompt = form.success ? store.get(form.data.reference) : undefined;
    if (!form.success || prompt?.kind !== 'collection') {
      answerGone(ctx);
      return;
    }
    const { choice, pin } = form.data;
    if (choice === 'approve' && !PIN.test(pin.trim())) {
      ctx.status = 400;
      showHandset(ctx, deps, { phone: prompt.phone, refusedPin: prompt.operatorReference });
      return;
    }
    const endings = { approve: PAID, wrong_pin: WRONG_PIN, cancel: CANCELLED };
    await answer(ctx, `/sandbox/handset?phone=${prompt.phone}&`, { prompt, ending: endings[choice] });
  });

  router.get('/operator', (ctx) => {
    showOperator(ctx, deps);
  });

  router.post('/operator', refuseOtherSites, readForm, async (ctx) => {
    const form = operatorForm.safeParse(ctx.request.body);
    const payment = form.success ? store.get(form.data.reference) : undefined;
    if (!form.success || payment === undefined || payment.kind === 'collection') {
      answerGone(ctx);
      return;
    }
    const endings = { approve: PAID, fail: NOT_PAID_OUT };
    await answer(ctx, '/sandbox/operator?', { prompt: payment, ending: endings[form.data.choice] });
  });

  // To a page of its own, so that loading it again decides nothing again.
  async function answer(
    ctx: Context,
    backTo: string,
    { prompt, ending }: { prompt: Transaction; ending: Ending },
  ): Promise<void> {
    const { operatorReference } = prompt;
    const result = await decisions.answer(operatorReference, ending);
    ctx.redirect(`${backTo}${result === 'decided' ? 'answered' : 'late'}=${operatorReference}`);
    ctx.status = 303;
  }

  return router;
}

function showPhones(ctx: Context, { store }: PersonDeps, wrongPhone: string | null): void {
  const ringing = store.list({ kind: 'collection', state: 'PENDING' }, LONGEST_LIST).map(({ phone }) => phone);
  const phones = [...new Set(ringing)].slice(0, MOST_CARDS);
  if (wrongPhone !== null) ctx.status = 400;
  answerPage(ctx, { title: 'Handset', content: choosePhone(phones, wrongPhone) });
}

function showHandset(ctx: Context, { store }: PersonDeps, view: { phone: string; refusedPin: string | null }): void {
  const { phone } = view;
  const all = store.list({ kind: 'collection', phone }, LONGEST_LIST);
  const prompts = all.filter(({ state }) => state === 'PENDING').slice(-MOST_PROMPTS);
  const ended = all.filter(({ decidedAtMs }) => decidedAtMs !== null);
  ended.sort((a, b) => (b.decidedAtMs ?? 0) - (a.decidedAtMs ?? 0));
  answerPage(ctx, {
    title: 'Handset',
    content: handset({
      ...view,
      prompts: prompts.reverse(),
      ended: ended.slice(0, MOST_ENDED),
      notice: noticeFor(ctx, store),
    }),
    ...(prompts.length === 0 && { refreshSeconds: REFRESH_SECONDS }),
  });
}

function showOperator(ctx: Context, { store, settings }: PersonDeps): void {
  const undecided = (['payout', 'refund'] as const)
    .flatMap((kind) => store.list({ kind, state: 'PENDING' }, LONGEST_LIST))
    .sort((a, b) => a.receivedAtMs - b.receivedAtMs);
  const waiting = undecided.slice(0, MOST_CARDS);
  const currencies = new Set([...settings.currencies.slice(0, 1), ...waiting.map(({ currency }) => currency)]);
  const account = [...currencies].map((currency) => ({ amount: store.balance(currency), currency }));
  const unshown = undecided.length - waiting.length;
  answerPage(ctx, {
    title: 'Operator',
    content: operatorPage({ waiting, unshown, account, notice: noticeFor(ctx, store) }),
    ...(waiting.length === 0 && { refreshSeconds: REFRESH_SECONDS }),
  });
}

function noticeFor(ctx: Context, store: TransactionStore): string | null {
  const answered = store.get(one(ctx.query['answered']) ?? '');
  if (answered !== undefined) return `${money(answered)}: ${outcomeOf(answered)}.`;
  const late = store.get(one(ctx.query['late']) ?? '');
  return late === undefined ? null : `Too late, it was decided before. ${money(late)}: ${outcomeOf(late)}.`;
}

function answerGone(ctx: Context): void {
  ctx.status = 404;
  answerPage(ctx, { title: 'Not there', content: markup`<p>There is no such payment to decide any more.</p>` });
}

// These pages ask for no password; another site's page in the same browser must not press their buttons.
const refuseOtherSites: Middleware = async (ctx: Context, next: Next) => {
  if (['', 'same-origin', 'none'].includes(ctx.get('Sec-Fetch-Site'))) {
    await next();
    return;
  }
  ctx.status = 403;
  answerPage(ctx, { title: 'Not from here', content: markup`<p>Use the buttons of this page itself.</p>` });
};

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
