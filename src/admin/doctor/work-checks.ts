// The doctor's checks of the work of the service: what waits, what failed, and whether housekeeping is done.
import type { Database } from '../../db/platform/database.ts';
import { HOUSEKEEPING_TASKS, type HousekeepingTask } from '../../domain/housekeeping.ts';
import type { Clocks } from '../../domain/clocks.ts';
import { listMembers } from '../../operations/accounts/list-members.ts';
import { listAllMerchants } from '../../db/accounts/merchant.ts';
import { listWaitingForFloat } from '../../db/payments/send-generation.ts';
import { ageText, type Check, type Finding } from './check.ts';

const MINUTE = 60_000;
const LONGEST_UNSTARTED_MS = 2 * MINUTE;
const LONGEST_OVERDUE_MS = MINUTE;
const LONGEST_PENDING_MS = 5 * MINUTE;
const LONGEST_UNLINKED_MS = 5 * MINUTE;
/** Heads are signed once an hour. */
const LONGEST_UNSIGNED_MS = 120 * MINUTE;
const LEAST_OWNERS = 2;

export const WORK_CHECKS: readonly Check[] = [
  {
    name: 'unstarted work',
    on: 'figures',
    looksAt: `no recorded work has been without a workflow for longer than ${ageText(LONGEST_UNSTARTED_MS)}`,
    remedy:
      'Run a process with the role dispatcher, and make sure that Temporal answers. The log of the dispatcher says what does not start.',
    find({ unstarted }) {
      return unstarted
        .filter(({ ageSeconds }) => ageSeconds * 1000 > LONGEST_UNSTARTED_MS)
        .map(
          ({ kind, count, ageSeconds }) => `${kind}: ${count} without a workflow, since ${ageText(ageSeconds * 1000)}`,
        );
    },
  },
  {
    name: 'status queries',
    on: 'figures',
    looksAt: `no operator is asked later than ${ageText(LONGEST_OVERDUE_MS)} after that was due`,
    remedy: 'Run a process with the role worker; MalipoStatusQueriesLate in the runbook.',
    find({ overdueQueries }) {
      return overdueQueries
        .filter(({ oldestMs }) => oldestMs > LONGEST_OVERDUE_MS)
        .map(({ operator, count, oldestMs }) => `${operator}: ${count} overdue, the oldest since ${ageText(oldestMs)}`);
    },
  },
  {
    name: 'breakers',
    on: 'figures',
    looksAt: 'every operator is called: no breaker is open',
    remedy: 'MalipoOperatorAway in the runbook. One that the staff opened: `npm run staff -- breaker close`.',
    find({ breakers }) {
      return breakers.map(
        ({ operator, product, cause, reason, openedAt }) =>
          `${operator} ${product}: not called since ${openedAt.toISOString()} (${cause}: ${reason})`,
      );
    },
  },
  {
    name: 'float',
    on: 'database',
    looksAt: 'no payout waits because our float at its operator is too low',
    remedy: 'Fill the float: what waits is sent again within minutes.',
    async find(db) {
      return (await listWaitingForFloat(db)).map(
        ({ operator, count, since }) => `${operator}: ${count} wait, the first released at ${since.toISOString()}`,
      );
    },
  },
  {
    name: 'backlog',
    on: 'figures',
    looksAt: 'no new payments are refused because too many wait for the service (MALIPO_BACKLOG_…)',
    remedy: 'Run more processes with the role worker; MalipoPaymentsWaitForUs in the runbook.',
    find({ backlog }, subject) {
      const { MALIPO_BACKLOG_MAX_COUNT: most = Infinity } = subject.settings;
      return [
        ...(backlog.count >= most ? [`${backlog.count} payments wait: new ones are refused`] : []),
        ...(backlog.lateCount > 0 ? [`${backlog.lateCount} payments have waited too long: new ones are refused`] : []),
        ...[...backlog.fullMerchants].map((merchant) => ({
          note: `${merchant} has more payments waiting than its share`,
        })),
      ];
    },
  },
  {
    name: 'failing work',
    on: 'figures',
    looksAt: 'no payment or delivery has a workflow that failed so often that it is tried once an hour',
    remedy:
      '`npm run staff -- quarantined` names the work. The log and the Temporal UI give the reason; MalipoWorkQuarantined in the runbook.',
    find({ failing }) {
      return failing.map(({ kind, failing: all, quarantined }) =>
        quarantined > 0
          ? `${kind}: the workflows of ${quarantined} fail again and again`
          : { note: `${kind}: the workflow of ${all} failed at the last attempt, and is retried` },
      );
    },
  },
  {
    name: 'deliveries',
    on: 'figures',
    looksAt: `the first attempt of a delivery is at most ${ageText(LONGEST_PENDING_MS)} late; a note says how many deliveries were dead-lettered`,
    remedy:
      'Run a process with the role dispatcher. Dead-lettered deliveries: the merchant replays them once the endpoint works.',
    find({ deliveries, payments }) {
      const lateMs = deliveries.pendingAgeSeconds * 1000;
      const dead = payments
        .filter(({ kind, state }) => kind === 'delivery' && state === 'dead_lettered')
        .reduce((sum, { present }) => sum + present, 0);
      return [
        ...(lateMs > LONGEST_PENDING_MS ? [`${deliveries.pending} wait, the oldest since ${ageText(lateMs)}`] : []),
        ...(dead > 0 ? [{ note: `${dead} deliveries were dead-lettered` }] : []),
      ];
    },
  },
  {
    name: 'endpoints',
    on: 'figures',
    looksAt: 'a note says how many endpoints are disabled, and why',
    remedy: 'Call the merchant. Deliveries to a disabled endpoint are kept until somebody replays them.',
    find({ disabledEndpoints }) {
      return disabledEndpoints.map(({ reason, count }) => ({ note: `${count} disabled (${reason})` }));
    },
  },
  {
    name: 'discrepancies',
    on: 'figures',
    looksAt: 'there is no open discrepancy with an operator',
    remedy:
      '`npm run staff -- discrepancies` names the discrepancies. Settle each with the operator, then `npm run staff -- settle`.',
    find({ discrepancies }) {
      return discrepancies.map(
        ({ kind, count, ageSeconds }) => `${count} unsettled (${kind}), the oldest since ${ageText(ageSeconds * 1000)}`,
      );
    },
  },
  {
    name: 'callbacks',
    on: 'figures',
    looksAt: 'no operator called back about a payment that was sent and is not on record',
    remedy: 'MalipoCallbackUnmatched in the runbook.',
    find({ unmatchedCallbacks: count }) {
      return count > 0 ? [`${count} about payments that are not on record: the database may have been set back`] : [];
    },
  },
  {
    name: 'housekeeping',
    on: 'figures',
    looksAt: 'no task of housekeeping is late, and the checks found no fault',
    remedy:
      'Late: run processes with the roles worker and dispatcher. A fault: see the `fatal` lines of the log; MalipoLedgerFaults in the runbook.',
    find({ housekeeping }, { clocks }) {
      return HOUSEKEEPING_TASKS.flatMap((task): Finding[] => {
        const done = housekeeping.find((one) => one.task === task);
        if (done === undefined) return [{ note: `${task} has never run` }];
        const ageMs = Date.now() - done.doneAsOf.getTime();
        const late = ageMs > longestAgeMs(task, clocks) ? [`${task} is done up to ${ageText(ageMs)} ago`] : [];
        return [...late, ...(done.faults > 0 ? [`${task} found ${done.faults} faults`] : [])];
      });
    },
  },
  {
    name: 'audit log',
    on: 'figures',
    looksAt: `entries get their link within ${ageText(LONGEST_UNLINKED_MS)}, and links their signature within ${ageText(LONGEST_UNSIGNED_MS)}`,
    remedy: 'operations.md, the audit log stands still.',
    find({ audit: { unlinkedAgeMs, unsignedAgeMs } }) {
      return [
        ...(unlinkedAgeMs > LONGEST_UNLINKED_MS ? [`an entry has waited ${ageText(unlinkedAgeMs)} for its link`] : []),
        ...(unsignedAgeMs > LONGEST_UNSIGNED_MS ? [`a link has been unsigned for ${ageText(unsignedAgeMs)}`] : []),
      ];
    },
  },
  {
    name: 'owners',
    on: 'database',
    looksAt: 'in live, a note names the merchants without two owners with a second factor, which can send no money',
    remedy: 'The merchant invites a second owner, who enrols a second factor.',
    async find(db, { settings }) {
      if (settings.MALIPO_ENVIRONMENT !== 'live' || settings.MALIPO_ATTESTATION_KEYS === undefined) return [];
      return (await merchantsWithoutOwners(db)).map((note) => ({ note }));
    },
  },
];

/** So that one late run is no alarm. */
function longestAgeMs(task: HousekeepingTask, clocks: Clocks): number {
  if (task === 'whole_ledger_check') return 2 * clocks.wholeLedgerCheckEveryMs + clocks.ledgerCheckTimeoutMs;
  if (task === 'ledger_check') return 2 * clocks.ledgerCheckEveryMs + clocks.ledgerCheckTimeoutMs;
  if (task === 'dispatch' || task === 'status_queries') return 10 * MINUTE;
  return Math.max(10 * MINUTE, 3 * clocks.sweepEveryMs);
}

async function merchantsWithoutOwners(db: Database): Promise<string[]> {
  const found: string[] = [];
  for await (const { id, name } of listAllMerchants(db)) {
    const members = (await listMembers(db, id, new Date())).map(({ member }) => member);
    const owners = members.filter(({ roles, hasSecondFactor }) => roles.includes('owner') && hasSecondFactor);
    if (owners.length < LEAST_OWNERS) found.push(`${id} (${name}) has ${owners.length}`);
  }
  return found;
}
