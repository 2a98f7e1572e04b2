// The commands of `npm run staff` about payments that do not go on as they should. Each returns the text that it prints.
import type { z } from 'zod';
import { discrepancyText } from '../domain/payments/discrepancy.ts';
import { findOpenDiscrepancies } from '../db/payments/discrepancy.ts';
import { listQuarantinedWork } from '../db/work/backlog.ts';
import { settleDiscrepancy } from '../operations/payments/settle-discrepancy.ts';
import type { ActingDatabase, By, StaffDatabase } from './server-database.ts';
import { MAX_SHOWN, shownList } from './shown-list.ts';
import type { settledDiscrepancy } from './staff-options.ts';

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
