// Generates the pages of docs/ that follow from the code: states, errors, configuration, signatures, the schema.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REACHED, type Check } from '../src/admin/doctor/check.ts';
import { CHECKS } from '../src/admin/doctor/doctor.ts';
import { readArguments } from '../src/arguments.mjs';
import { clockSetting } from '../src/settings/clocks.ts';
import { describeSettings, secretFileSettings } from '../src/settings/config.ts';
import {
  CLOCK_NAMES,
  DURATIONS,
  LEAST_LIVE_CLOCKS,
  leastClockMs,
  SHORTEST_DURATION_MS,
  type ClockName,
} from '../src/domain/clocks.ts';
import { COLLECTION_TRANSITIONS } from '../src/domain/payments/collection.ts';
import { approvalState } from '../src/domain/payments/approval.ts';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS } from '../src/domain/payments/payout.ts';
import { REVERSAL_TRANSITIONS } from '../src/domain/payments/reversal.ts';
import { findProjectRoot } from '../src/project-root.ts';
import { generatedGuides } from './guide-pages.ts';
import { code, markdownTable, page } from './markdown.ts';
import { metricSections, metricsOfNode } from './metrics-page.ts';
import { operatorsPage } from './operators-page.ts';
import { schemaOfNewDatabase } from './schema-page.ts';
import { webhookTestVectors } from './webhook-test-vectors.ts';

const NOTICE = 'Generated from the code by `npm run docs`; do not edit.';

export async function generatedPages(): Promise<Readonly<Record<string, string>>> {
  return {
    'docs/states.md': statesPage(),
    'docs/config.md': configPage(),
    'docs/doctor.md': doctorPage(),
    'docs/metrics.md': await metricsPage(),
    'docs/operators.md': operatorsPage(NOTICE),
    'docs/webhook-test-vectors.json': webhookTestVectors(),
    ...generatedGuides(),
  };
}

async function metricsPage(): Promise<string> {
  const ofNode = (await metricsOfNode()).map(code).join(', ');
  return page('Metrics', NOTICE, [
    'Every server process shows these metrics for Prometheus at `/metrics` of its own port (`MALIPO_METRICS_HOST`, `MALIPO_METRICS_PORT`), whatever its roles. [deploy/](../deploy/README.md) has rules and dashboards, [the runbook](runbook.md) what to do at each alert.',
    'The values of a label are in the first row that has it, and again where they change.',
    ...metricSections().flatMap(({ title, text, rows }) => [
      `## ${title}`,
      text,
      markdownTable(['metric', 'type', 'what it says', 'labels'], rows),
    ]),
    '## Of Node.js in a process',
    `\`prom-client\`, the library of the metrics, measures and documents these: ${ofNode}.`,
  ]);
}

function statesPage(): string {
  return page('States', NOTICE, [
    'Each arrow has the transition input that causes it. Any other input changes nothing, and the database refuses every other transition. A state without an arrow from it is final. [The guide](guides/states.md) says what each state means for money, and lists the failure codes.',
    '## Collections',
    transitions('initiated', COLLECTION_TRANSITIONS),
    'An expired collection is declined only where its failure is `unknown`: any other expiry is what the operator stated.',
    '## Payouts',
    transitions('queued', PAYOUT_TRANSITIONS),
    '### Approval states',
    markdownTable(
      ['state', 'approval_state'],
      PAYOUT_STATES.map((state) => [state, approvalState(state)]),
    ),
    '## Reversals',
    'These are the states of a reversal that a maker requested, with the approval states of payouts. The collection becomes `reversed` when the refund succeeds.',
    transitions('queued', REVERSAL_TRANSITIONS),
  ]);
}

function transitions(first: string, states: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  const arrows = Object.entries(states).flatMap(([state, targets]) =>
    Object.entries(targets).map(([input, next]) => `  ${state} --> ${next}: ${input}`),
  );
  return ['```mermaid', 'stateDiagram-v2', `  [*] --> ${first}`, ...arrows, '```'].join('\n');
}

function configPage(): string {
  const settingsOf = (process: Parameters<typeof describeSettings>[0]) =>
    describeSettings(process).map(({ name, fallback }) => [code(name), fallback]);
  const durations = CLOCK_NAMES.map((name) => {
    const { meaning, real, demo } = DURATIONS[name];
    return [code(clockSetting(name)), meaning, String(real), String(demo), least(name), leastInLive(name)];
  });
  return page('Configuration', NOTICE, [
    'Each process reads its settings from the environment at its start. If it cannot use them, it lists every problem and ends.',
    `A secret may come from a file, as a vault or a container provides it: the setting with \`_FILE\` after its name has the path and replaces the setting itself. Line breaks at the end of the file are ignored. These are: ${secretFileSettings()
      .map(code)
      .join(', ')}.`,
    '## The server',
    markdownTable(['setting', 'default'], settingsOf('server')),
    '## The migration',
    'It takes the server’s settings and one that no server gets: the address of the account that owns the database.',
    markdownTable(['setting', 'default'], settingsOf('migrate')),
    '## The accounts of the database',
    '`npm run accounts` creates the accounts and databases of these addresses. The first is a superuser’s, and needed for this alone.',
    markdownTable(['setting', 'default'], settingsOf('accounts')),
    '## Durations',
    `In milliseconds, ${SHORTEST_DURATION_MS} or more where nothing else is stated; a list is a schedule. \`MALIPO_CLOCKS\` chooses the column \`real\` or \`demo\`, and each duration can be set by itself.`,
    markdownTable(['setting', 'meaning', 'real', 'demo', 'least', 'least in live'], durations),
    '## The sandbox operator',
    'It is the operators’ side: the accounts with it have the same credentials. The float is in whole units of each currency.',
    markdownTable(['setting', 'default'], settingsOf('sandbox')),
  ]);
}

function doctorPage(): string {
  const rowOf = ({ name, looksAt, remedy }: Pick<Check, 'name' | 'looksAt' | 'remedy'>) => [name, looksAt, remedy];
  const rows = (...kinds: readonly Check['on'][]) => CHECKS.filter(({ on }) => kinds.includes(on)).map(rowOf);
  return page('The doctor', NOTICE, [
    '`npm run staff -- doctor` inspects a deployment and prints each fault with its remedy. It changes nothing. It skips what it cannot reach, and checks the rest. The exit code is 1 when something is wrong, and 0 otherwise; a note is no fault.',
    markdownTable(
      ['check', 'what must be true', 'remedy'],
      [
        ...rows('settings'),
        rowOf(REACHED.database),
        ...rows('database', 'figures'),
        rowOf(REACHED.Temporal),
        ...rows('Temporal'),
      ],
    ),
  ]);
}

if (process.argv[1] === import.meta.filename) {
  readArguments({ usage: 'usage: npm run docs\n\nWrites the generated pages of docs/.' });
  // The schema is not in `generatedPages`: only tests with a database compare it.
  const pages = { ...(await generatedPages()), 'docs/schema.sql': await schemaOfNewDatabase() };
  for (const [file, text] of Object.entries(pages)) writeFileSync(join(findProjectRoot(), file), text);
}

function least(name: ClockName): string {
  const ms = leastClockMs(name);
  return ms === SHORTEST_DURATION_MS ? '' : String(ms);
}

/** For a schedule, the least value of its last entry. */
function leastInLive(name: ClockName): string {
  return name in LEAST_LIVE_CLOCKS ? String(LEAST_LIVE_CLOCKS[name as keyof typeof LEAST_LIVE_CLOCKS].ms) : '';
}
