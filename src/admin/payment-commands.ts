// The commands of `npm run staff` about payments that do not go on as they should. Each returns the text that it prints.
import type { z } from 'zod';
import { discrepancyText } from '../domain/payments/discrepancy.ts';
import { findOpenDiscrepancies } from '../db/payments/discrepancy.ts';
import { listQuarantinedWork } from '../db/work/backlog.ts';
import { listOpenBreakers } from '../db/work/breakers.ts';
import { changeBreaker } from '../operations/payments/change-breaker.ts';
import { settleDiscrepancy } from '../operations/payments/settle-discrepancy.ts';
import type { ActingDatabase, By, StaffDatabase } from './server-database.ts';
import { MAX_SHOWN, shownList } from './shown-list.ts';
import type { closedBreaker, openedBreaker, settledDiscrepancy } from './staff-options.ts';

export async function showDiscrepancies({ db }: StaffDatabase): Promise<string> {
  const texts = { none: 'there are no open discrepancies', more: 'and more: these are the oldest' };
  return shownList(await findOpenDiscrepancies(db, MAX_SHOWN + 1), texts, (found) => {
    const { id, subject, merchantId, foundAt } = found;
    return `${id}  ${subject} of ${merchantId}, ${foundAt.toISOString()}: ${discrepancyText(found)}`;
  });
}

export async function settleOpenDiscrepancy(
  { id, how }: z.infer<typeof settledDiscrepancy>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  const settled = await settleDiscrepancy(db, { id, how, by, at: new Date() });
  if (settled === null) throw new Error(`there is no open discrepancy ${id}`);
  return `settled     ${settled.subject} of ${settled.merchantId}: ${discrepancyText(settled)}\n`;
}

/** What does not start or does not progress. */
export async function showQuarantinedWork({ db }: StaffDatabase): Promise<string> {
  const found = await listQuarantinedWork(db, MAX_SHOWN + 1);
  return shownList(found, { none: 'no work is quarantined', more: 'and more' }, (work) => {
    const { kind, id, merchantId, state, workflowFailures, dueAt } = work;
    const tries = `its workflow failed ${workflowFailures} times and is tried at ${dueAt.toISOString()}`;
    return `${id}  ${kind} of ${merchantId}, ${state}: ${tries}`;
  });
}

/** Which operators are not called now, and why. */
export async function showBreakers({ db }: StaffDatabase): Promise<string> {
  const texts = { none: 'every operator is called', more: 'and more' };
  return shownList(await listOpenBreakers(db), texts, (breaker) => {
    const { operator, product, state, cause, reason, openedAt, retryInMs } = breaker;
    const next = retryInMs === null ? 'until it is closed by hand' : `next call in ${Math.ceil(retryInMs / 1000)} s`;
    return `${operator} ${product}  ${state} since ${openedAt.toISOString()}, ${next} (${cause}: ${reason})`;
  });
}

export async function openBreakerByHand(
  { operator, product, reason }: z.infer<typeof openedBreaker>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  await changeBreaker(db, { operator, product, opening: { reason }, by, at: new Date() });
  return `opened      ${operator} ${product}: nobody calls it until the breaker is closed by hand\n`;
}

export async function closeBreakerByHand(
  { operator, product }: z.infer<typeof closedBreaker>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  const before = await changeBreaker(db, { operator, product, opening: null, by, at: new Date() });
  if (before === 'closed') throw new Error(`the breaker of ${operator} ${product} is closed`);
  return `closed      ${operator} ${product}: it is called again\n`;
}
