// Answers that no client can read, in turn: undocumented types, more bytes than a client takes, a web page, and half a body.
import type { Context } from 'koa';
import { behaviourOf } from './behaviours.ts';
import type { TransactionStore } from './transaction-store.ts';
import type { Transaction } from './transaction.ts';

const FORMS = ['wrong_types', 'too_long', 'web_page', 'half_a_body'] as const;
export type UnreadableForm = (typeof FORMS)[number];

/** Clients take 64 KiB at most. */
const TOO_LONG = JSON.stringify({ padding: '0'.repeat(65 * 1024) });
const WEB_PAGE = '<!DOCTYPE html><html><body>Service temporarily unavailable</body></html>';

/** The form of the answer to the request that was counted last; null if the answer is readable. */
export function unreadableSend(transaction: Transaction | undefined): UnreadableForm | null {
  if (transaction === undefined || !isUnreadable(transaction)) return null;
  return FORMS[transaction.requestsReceived - 1] ?? null;
}

/** Counts a query and returns the form of its answer; null if the answer is readable. */
export async function unreadableQuery(
  transaction: Transaction | undefined,
  store: Pick<TransactionStore, 'put'>,
): Promise<UnreadableForm | null> {
  if (transaction === undefined || !isUnreadable(transaction)) return null;
  const { queriesReceived } = transaction;
  await store.put({ ...transaction, queriesReceived: queriesReceived + 1 });
  return FORMS[queriesReceived] ?? null;
}

/** `wrongTypes` is the body of the form `wrong_types` in the wire's format. */
export function sendUnreadable(ctx: Context, form: UnreadableForm, wrongTypes: object): void {
  ctx.status = 200;
  switch (form) {
    case 'wrong_types':
      ctx.body = wrongTypes;
      return;
    case 'too_long':
      ctx.type = 'json';
      ctx.body = TOO_LONG;
      return;
    case 'web_page':
      ctx.type = 'html';
      ctx.body = WEB_PAGE;
      return;
    case 'half_a_body':
      sendHalf(ctx, JSON.stringify(wrongTypes));
      return;
  }
}

// The connection ends before the announced length is sent.
function sendHalf(ctx: Context, text: string): void {
  ctx.respond = false;
  ctx.res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  ctx.res.write(text.slice(0, text.length / 2), () => ctx.res.destroy());
}

function isUnreadable(transaction: Transaction): boolean {
  return behaviourOf(transaction).behaviour.hasUnreadableAnswers === true;
}
