// The commands of `npm run merchant` about what operators say otherwise, each as the text that it prints.
import { discrepancyText } from '../domain/payments/discrepancy.ts';
import { listDiscrepancies } from '../queries/payments/list-discrepancies.ts';
import { settleDiscrepancy } from '../operations/payments/settle-discrepancy.ts';
import { onServer } from './on-server.ts';

const MOST_SHOWN = 100;

export function showDiscrepancies(): Promise<string> {
  return onServer(async ({ db }) => {
    const open = await listDiscrepancies(db, MOST_SHOWN + 1);
    if (open.length === 0) return 'nothing is open\n';
    const lines = open.slice(0, MOST_SHOWN).map((found) => {
      const { id, subject, merchantId, foundAt } = found;
      return `${id}  ${subject} of ${merchantId}, ${foundAt.toISOString()}: ${discrepancyText(found)}\n`;
    });
    return `${lines.join('')}${open.length > MOST_SHOWN ? 'and more: these are the oldest\n' : ''}`;
  });
}

export function settleFound({ id, how }: { readonly id: string; readonly how: string }): Promise<string> {
  return onServer(async ({ db }) => {
    const settled = await settleDiscrepancy(db, { id, how, at: new Date() });
    if (settled === null) throw new Error(`no discrepancy ${id} is open`);
    return `settled     ${settled.subject} of ${settled.merchantId}: ${discrepancyText(settled)}\n`;
  });
}
