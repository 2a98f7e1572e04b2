// The tables of a campaign, as Markdown.
import { writeFileSync } from 'node:fs';
import type { Judgement } from './checker/check.ts';
import { isExplained, sendsOf, type Send } from './checker/send-rules.ts';
import type { Case, Violation } from './checker/violation.ts';
import type { Fault } from './faults.ts';
import type { Loss } from './markers.ts';
import type { Options } from './options.ts';
import { flowsAgainMs, recoveryTimes, type Recovery } from './recovery.ts';

export type Outcome = {
  readonly options: Options;
  readonly judgement: Judgement;
  readonly faults: readonly Fault[];
  /** The losses of Temporal's databases by each pull of the plug. */
  readonly losses: readonly Loss[];
  readonly loadMs: number;
  /** From the last request until the checker found no violation; null: never. */
  readonly endMs: number | null;
};

const MOST_VIOLATIONS = 200;
const NOTHING_OVERDUE: Recovery = { ms: 0, last: null };

export function formatReport(outcome: Outcome): string {
  const { options, judgement, faults, loadMs, endMs } = outcome;
  const { violations, evidence } = judgement;
  const { collections, payouts, reversals, events } = evidence.records;
  const accepted = [...evidence.operator.values()].filter(({ state }) => state !== 'NOT_ACCEPTED');
  const countOf = (kind: string) => accepted.filter((payment) => payment.kind === kind).length;
  const attempts = evidence.requests.flatMap(({ results }) => results);
  const unanswered = attempts.filter(({ status }) => status === null);
  const stuck = violations.filter(({ rule }) => rule === 'payment_stuck');
  return [
    `Seed \`${options.seed}\`: ${options.payments} payments in ${seconds(loadMs)}, ${options.servers} servers, ${options.topology} topology.`,
    '',
    table([
      ['', 'number'],
      ['requests of the merchants and their people', String(evidence.requests.length)],
      ['attempts at them, without a whole response', `${attempts.length}, ${unanswered.length}`],
      ['collections recorded, prompted', `${collections.length}, ${countOf('collection')}`],
      ['payouts recorded, at the operator', `${payouts.length}, ${countOf('payout')}`],
      ['reversals recorded, refunds at the operator', `${reversals.length}, ${countOf('refund')}`],
      ['events, webhooks received', `${events.length}, ${evidence.received.length}`],
      ['faults', String(faults.length)],
      ['processes that ended', String(evidence.processEnds.length)],
      ['from the last request to the end of everything', endMs === null ? 'not within the limit' : seconds(endMs)],
      ['violations', String(violations.length)],
      ['stuck', String(stuck.length)],
    ]),
    '',
    statesTable(outcome),
    '',
    sendsTable(evidence),
    '',
    faultsTable(outcome),
    ...(outcome.losses.length > 0 ? ['', pullsTable(outcome)] : []),
    ...(violations.length > 0 ? ['', violationLines(violations)] : []),
    '',
  ].join('\n');
}

export function writeReport(file: string, outcome: Outcome): void {
  writeFileSync(file, formatReport(outcome));
}

export function violationLines(violations: readonly Violation[]): string {
  const lines = violations.slice(0, MOST_VIOLATIONS).map(({ rule, id, text }) => `VIOLATION ${rule} ${id}: ${text}`);
  const left = violations.length - lines.length;
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('\n');
}

function statesTable({ judgement }: Outcome): string {
  const { collections, payouts } = judgement.evidence.records;
  const counts = new Map<string, Map<string, number>>();
  const count = (line: string, state: string) => {
    const states = counts.get(line) ?? new Map<string, number>();
    counts.set(line, states.set(state, (states.get(state) ?? 0) + 1));
  };
  const withReason = (state: string, reason: string | null) => (reason === null ? state : `${state} (${reason})`);
  for (const [kind, rows] of Object.entries({ collection: collections, payout: payouts })) {
    for (const { phone, state, failureCode } of rows) {
      count(`${kind} ${phone.slice(-3)}`, withReason(state, failureCode));
    }
  }
  for (const { state } of judgement.evidence.records.reversals) count('reversal', state);
  const lines = [...counts].sort(([a], [b]) => a.localeCompare(b));
  return table([
    ['kind and row', 'states'],
    ...lines.map(([line, states]) => [
      line,
      [...states]
        .map(([state, number]) => `${number} ${state}`)
        .sort()
        .join(', '),
    ]),
  ]);
}

/** How much was never sent, by cause. Only a fault may explain it, so without a fault nothing may be missing. */
function sendsTable(evidence: Case): string {
  const { faults } = evidence.interference;
  const sends = sendsOf(evidence);
  const share = (part: readonly Send[], all: readonly Send[]): string =>
    `${part.length}${part.length > 0 ? ` (${((100 * part.length) / all.length).toFixed(1)} %)` : ''}`;
  const kinds = ['collection', 'payout', 'reversal'] as const;
  return table([
    ['to be sent', 'number', 'our outage', 'the operator’s', 'out of reach of every fault', 'of these not sent'],
    ...kinds.map((kind) => {
      const kindSends = sends.filter((send) => send.kind === kind);
      const ours = kindSends.filter(({ outage }) => outage === 'service_unavailable');
      const operators = kindSends.filter(({ outage }) => outage !== null && outage !== 'service_unavailable');
      const clear = kindSends.filter((send) => !isExplained(send, faults));
      const lost = clear.filter(({ outage }) => outage !== null);
      return [
        `${kind}s`,
        String(kindSends.length),
        share(ours, kindSends),
        share(operators, kindSends),
        String(clear.length),
        share(lost, clear),
      ];
    }),
  ]);
}

function faultsTable({ faults, judgement }: Outcome): string {
  const recovery = recoveryTimes(faults, judgement.evidence);
  const kinds = [...new Set(faults.map(({ kind }) => kind))].sort();
  return table([
    ['fault', 'times', 'lasted', 'recovered, median', 'recovered, longest', 'done last'],
    ...kinds.map((kind) => {
      const kindFaults = faults.filter((fault) => fault.kind === kind);
      const recoveries = kindFaults
        .map(({ number }) => recovery.get(number) ?? NOTHING_OVERDUE)
        .sort((a, b) => a.ms - b.ms);
      const last = recoveries.at(-1)?.last ?? null;
      const longest = Math.max(...kindFaults.map(({ durationMs }) => durationMs));
      return [
        kind.replaceAll('_', ' '),
        String(kindFaults.length),
        longest === 0 ? 'a moment' : `up to ${seconds(longest)}`,
        seconds(recoveries[Math.floor(recoveries.length / 2)]?.ms ?? 0),
        seconds(recoveries.at(-1)?.ms ?? 0),
        last === null ? '' : `${last.id} ${last.what}`,
      ];
    }),
  ]);
}

function pullsTable({ faults, losses, judgement }: Outcome): string {
  const lost = losses.filter(({ markers }) => markers > 0);
  const markers = lost.reduce((sum, loss) => sum + loss.markers, 0);
  const flows = flowsAgainMs(faults, judgement.evidence);
  return table([
    ['pulls of the plug', 'number', 'median', 'longest'],
    ['that hit PostgreSQL while it ran', String(losses.length), '', ''],
    [
      `that lost confirmed commits of Temporal’s databases: ${markers}`,
      String(lost.length),
      ...medianAndLongest(lost.map(({ spanMs }) => spanMs)),
    ],
    ['until a payment requested after it was at the operator', String(flows.length), ...medianAndLongest(flows)],
  ]);
}

function medianAndLongest(durationsMs: readonly number[]): [string, string] {
  const sorted = [...durationsMs].sort((a, b) => a - b);
  return [seconds(sorted[Math.floor(sorted.length / 2)] ?? 0), seconds(sorted.at(-1) ?? 0)];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  return [lines[0], `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...lines.slice(1)].join('\n');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
