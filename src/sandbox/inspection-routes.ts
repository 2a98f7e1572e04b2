// Lets people and tests see and switch: the outcome table, the transactions and the fault switches.
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import { COLLECTION_BEHAVIOURS, PAYOUT_BEHAVIOURS, type PaymentKind } from './behaviours.ts';
import { faultsSchema, type FaultSwitches } from './fault-switches.ts';
import { sendPage, markup, type Markup } from './markup.ts';
import { queryValue } from './query-value.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import type { Transaction } from './transaction.ts';

type InspectionDeps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly faults: FaultSwitches;
};

const LONGEST_LIST = 100;
const KINDS: readonly PaymentKind[] = ['collection', 'payout', 'refund'];

export function createInspectionRouter({ settings, store, faults }: InspectionDeps): Router {
  const router = new Router({ prefix: '/sandbox' });

  router.get('/', (ctx) => {
    if (ctx.accepts('json', 'html') === 'html') {
      sendPage(ctx, { title: 'Table of endings', content: outcomePage(settings) });
      return;
    }
    ctx.body = { about: ABOUT, times: settings.times, endings: outcomeTable() };
  });

  router.get('/transactions', (ctx) => {
    const kind = KINDS.find((known) => known === queryValue(ctx, 'kind'));
    const phone = queryValue(ctx, 'phone');
    const reference = queryValue(ctx, 'reference')?.toLowerCase();
    const filter = {
      ...(kind !== undefined && { kind }),
      ...(phone !== undefined && { phone }),
      ...(reference !== undefined && { operatorReference: reference }),
    };
    // For M-Pesa the reference is the account reference, under which each prompt is a transaction of its own.
    const prompts = store.promptsFor(queryValue(ctx, 'reference') ?? '');
    const listed = prompts.length === 0 ? store.list(filter, LONGEST_LIST) : prompts.slice(-LONGEST_LIST).reverse();
    ctx.body = listed.map(present);
  });

  router.get('/faults', (ctx) => {
    ctx.body = faults.get();
  });

  const readBody = bodyParser({ enableTypes: ['json'], jsonLimit: settings.limits.bodyBytes, jsonStrict: false });
  router.put('/faults', readBody, (ctx) => {
    const parsed = faultsSchema.safeParse(ctx.request.body);
    if (!parsed.success) {
      ctx.status = 400;
      ctx.body = { problems: parsed.error.issues.map(({ path, message }) => ({ at: path.join('.'), message })) };
      return;
    }
    faults.set(parsed.data);
    ctx.body = faults.get();
  });

  return router;
}

const ABOUT =
  'The sandbox operator: no real money, no real phones. It speaks the wires of MTN MoMo, Airtel Money and M-Pesa, and the last three digits of the phone decide how a payment ends. Any other number is paid. A refund ends as a payout to the same phone would, but is simply paid where that would be returned or would wait for a person.';

function outcomeTable(): { endsIn: string; collection: string; payout: string }[] {
  return [...COLLECTION_BEHAVIOURS].map(([endsIn, { summary }]) => ({
    endsIn,
    collection: summary,
    payout: PAYOUT_BEHAVIOURS.get(endsIn)?.summary ?? 'paid',
  }));
}

function outcomePage({ times }: SandboxSettings): Markup {
  const rows = outcomeTable().map(
    ({ endsIn, collection, payout }) => markup`<tr><td>${endsIn}</td><td>${collection}</td><td>${payout}</td></tr>`,
  );
  return markup`<p>${ABOUT}</p>
<p>A payment is decided after ${times.decisionMs} ms. Before that a person may: a payer at the
<a href="/sandbox/handset">handset</a>, the staff at the <a href="/sandbox/operator">operator page</a>.</p>
<table><thead><tr><th scope="col">Ends in</th><th scope="col">Collection</th><th scope="col">Payout</th></tr></thead>
<tbody>${rows}</tbody></table>
<p>See also <a href="/sandbox/transactions">transactions</a> and <a href="/sandbox/faults">fault switches</a>.</p>`;
}

function present(transaction: Transaction): Record<string, unknown> {
  const { kind, operatorReference, originalReference, externalId, issuedId, phone, amount, currency } = transaction;
  const { row, state, reason } = transaction;
  const { requestsReceived, promptsRaised, transfersTaken, callbacksSent, callbackResults } = transaction;
  return {
    kind,
    operatorReference,
    originalReference,
    externalId,
    issuedId,
    phone,
    amount,
    currency,
    row,
    state,
    reason,
    receivedAt: time(transaction.receivedAtMs),
    decidedAt: time(transaction.decidedAtMs),
    givenBackAt: time(transaction.givenBackAtMs),
    requestsReceived,
    promptsRaised,
    transfersTaken,
    callbacksSent,
    callbackResults: callbackResults.map(({ atMs, result }) => ({ at: time(atMs), result })),
  };
}

function time(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
