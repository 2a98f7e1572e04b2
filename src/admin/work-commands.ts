// The command of `npm run staff` about work whose workflow does not start or does not progress.
import { listQuarantinedWork } from '../db/work/backlog.ts';
import type { StaffDatabase } from './server-database.ts';

const MAX_SHOWN = 100;

export async function showQuarantinedWork({ db }: StaffDatabase): Promise<string> {
  const found = await listQuarantinedWork(db, MAX_SHOWN + 1);
  if (found.length === 0) return 'no work is quarantined\n';
  const lines = found.slice(0, MAX_SHOWN).map(({ kind, id, merchantId, state, workflowFailures, dueAt }) => {
    const tries = `its workflow failed ${workflowFailures} times and is tried at ${dueAt.toISOString()}`;
    return `${id}  ${kind} of ${merchantId}, ${state}: ${tries}\n`;
  });
  return `${lines.join('')}${found.length > MAX_SHOWN ? 'and more\n' : ''}`;
}
