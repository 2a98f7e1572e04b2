// The commands of `npm run staff` about the recovery of the service after a restore of its database.
import type { z } from 'zod';
import { findFence, listOpenRestores, type OpenRestore } from '../db/platform/fence.ts';
import { countDoubtful, listFindings, type ListedFinding } from '../db/payments/restore-finding.ts';
import { listMissing } from '../db/payments/missing-window.ts';
import { RESTORE_TEXTS } from '../domain/fence.ts';
import { proposeAsStaff } from '../operations/accounts/staff-proposals.ts';
import type { ActingDatabase, By, StaffDatabase } from './server-database.ts';
import { MAX_SHOWN } from './shown-list.ts';
import type { openedRecovery } from './staff-options.ts';
import { proposedText } from './staff-texts.ts';

/** What is missing in the database, and which payments the operators may know otherwise. */
export async function showRecovery({ db }: StaffDatabase): Promise<string> {
  const restores = await listOpenRestores(db);
  const [latest] = restores;
  if (latest === undefined) {
    const { ageMs } = await findFence(db);
    const age = ageMs === null ? 'was never written' : `was written ${(ageMs / 1000).toFixed(1)} s ago`;
    return `the service is not in recovery; the fence of its database ${age}\n`;
  }
  const since = restores.reduce<Date | null>((first, { writtenAt }) => earlier(first, writtenAt), latest.foundAt);
  const rows = await listMissing(db, since);
  const unasked = await countDoubtful(db, latest.id);
  const found = await listFindings(db, latest.id, MAX_SHOWN);
  const lines = rows.map(
    ({ kind, operator, state, count, oldest }) =>
      `  ${String(count).padStart(7)}  ${kind} at ${operator}, ${state}, the oldest of ${oldest.toISOString()}\n`,
  );
  return `${restores.map(restoreText).join('')}
These are not final, or ended near the end of what the database has:

${lines.length > 0 ? lines.join('') : '  none\n'}
Workers ask the operators about payouts and refunds that may be sent, under every reference. ${unasked} are not asked yet. The operators
have, or answer no question about:

${found.length > 0 ? found.map(findingText).join('') : '  none\n'}
and what was requested first while the database was missing is not on record at all. When all is compared, two of the staff
open the service:

  npm run staff -- recovery open --reason TEXT --as NAME
`;
}

function findingText({ paymentId, generation, operatorReference, operator, state, said }: ListedFinding): string {
  return `  ${paymentId}  ${state}, generation ${generation} (${operatorReference}) at ${operator}: ${said}\n`;
}

function earlier(one: Date | null, other: Date | null): Date | null {
  // Null: from the beginning.
  if (one === null || other === null) return null;
  return one < other ? one : other;
}

function restoreText({ id, reason, foundAt, writtenAt, marker, markerWrittenAt, sessionsEnded }: OpenRestore): string {
  const from = writtenAt === null ? 'its beginning' : writtenAt.toISOString();
  const to = markerWrittenAt ?? foundAt;
  const source = marker === null ? 'no marker' : `the marker in ${marker === 'temporal' ? 'Temporal' : marker}`;
  return `restore     ${id}, found ${foundAt.toISOString()}: ${RESTORE_TEXTS[reason]}
missing     from ${from} to ${to.toISOString()} or some seconds later, by ${source}
sessions    ${sessionsEnded} were ended
`;
}

export async function proposeOpening(
  { reason }: z.infer<typeof openedRecovery>,
  { db, by }: By<ActingDatabase>,
): Promise<string> {
  const [latest] = await listOpenRestores(db);
  if (latest === undefined) throw new Error('the service is not in recovery');
  const proposed = { kind: 'recovery_opening', payload: { restore: latest.id, reason } } as const;
  const made = proposedText(await proposeAsStaff(db, { proposed, by, at: new Date() }));
  const unasked = await countDoubtful(db, latest.id);
  return unasked === 0
    ? made
    : `${made}\nnot asked   the operators about ${unasked} payments, which may be paid twice\n`;
}
