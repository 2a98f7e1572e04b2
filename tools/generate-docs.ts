// Generates the pages of docs/ that follow from the code: states, errors, configuration, signatures, the schema. Tests compare.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REACHED, type Check } from '../src/admin/doctor/check.ts';
import { CHECKS } from '../src/admin/doctor/doctor.ts';
import { readArguments } from '../src/arguments.mjs';
import { HTTP_STATUS } from '../src/api/errors.ts';
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
import { ERROR_CODES, errorCategory, errorType } from '../src/domain/errors.ts';
import { FAILURE_CODES, failure } from '../src/domain/payments/failure.ts';
import { approvalState } from '../src/domain/payments/approval.ts';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS } from '../src/domain/payments/payout.ts';
import { REVERSAL_TRANSITIONS } from '../src/domain/payments/reversal.ts';
import { findProjectRoot } from '../src/project-root.ts';
import { generatedGuides } from './guide-pages.ts';
import { metricSections } from './metrics-page.ts';
import { schemaOfNewDatabase } from './schema-page.ts';
import { webhookTestVectors } from './webhook-test-vectors.ts';

const NOTICE = 'Generated from the code by `npm run docs`; do not edit.';

export async function generatedPages(): Promise<Readonly<Record<string, string>>> {
  return {
    'docs/states.md': statesPage(),
    'docs/errors.md': errorsPage(),
    'docs/config.md': configPage(),
    'docs/doctor.md': doctorPage(),
    'docs/metrics.md': await metricsPage(),
    'docs/webhook-test-vectors.json': webhookTestVectors(),
    ...generatedGuides(),
  };
}

async function metricsPage(): Promise<string> {
  const sections = await metricSections();
  return page('Metrics', [
    'Every server process shows these metrics for Prometheus at `/metrics` of its own port (`MALIPO_METRICS_HOST`, `MALIPO_METRICS_PORT`), whatever its roles. [deploy/](../deploy/README.md) has rules and dashboards, [the runbook](runbook.md) what to do at each alert.',
    'A label without values here has those of the row above that last shows them.',
    ...sections.flatMap(({ title, text, rows }) => [
      `## ${title}`,
      text,
      table(['metric', 'type', 'what it says', 'labels'], rows),
    ]),
  ]);
}

function statesPage(): string {
  return page('States', [
    'An input for which a state has no row changes nothing. The database refuses every other transition.',
    '## Collections',
    ...transitions('initiated', COLLECTION_TRANSITIONS),
    'An expired collection is declined only where its failure is `unknown`: what the operator said of any other stands.',
    '### Why a collection or payout failed, or a collection expired',
    table(
      ['code', 'message'],
      FAILURE_CODES.map((code) => [`\`${code}\``, failure(code).message]),
    ),
    '## Payouts',
    ...transitions('queued', PAYOUT_TRANSITIONS),
    '### Approval states',
    table(
      ['state', 'approval_state'],
      PAYOUT_STATES.map((state) => [state, approvalState(state)]),
    ),
    '## Reversals',
    'These are the states of a reversal that a maker requested, with the approval states of payouts. The collection becomes `reversed` when the refund succeeds.',
    ...transitions('queued', REVERSAL_TRANSITIONS),
  ]);
}

function transitions(first: string, states: Readonly<Record<string, Readonly<Record<string, string>>>>): string[] {
  const steps = Object.entries(states).flatMap(([state, targets]) =>
    Object.entries(targets).map(([input, next]) => ({ state, input, next })),
  );
  const arrows = steps.map(({ state, input, next }) => `  ${state} --> ${next}: ${input}`);
  const finals = Object.keys(states).filter((state) => steps.every((step) => step.state !== state));
  const rows = steps.map(({ state, input, next }) => [state, input, next]);
  return [
    ['```mermaid', 'stateDiagram-v2', `  [*] --> ${first}`, ...arrows, '```'].join('\n'),
    table(['state', 'input', 'next state'], [...rows, ...finals.map((state) => [state, '–', 'final'])]),
  ];
}

function errorsPage(): string {
  const rows = ERROR_CODES.map((code) => [
    `\`${code}\``,
    `\`${errorType(code)}\``,
    String(HTTP_STATUS[errorCategory(code)]),
  ]);
  return page('Errors', [
    'Every error response has this shape. Treat a code that you do not know like its type.',
    '```json\n{"error": {"type", "code", "message", "param", "request_id", "errors": [{"param", "code", "message"}]}}\n```',
    table(['code', 'type', 'HTTP'], rows),
    'A console route refuses every caller with `permission_denied` and never says why: with 403 where there is a valid session, with 401 where\nthere is none, which includes a log-in that fails. `GET /v1/console/session` says beforehand what a front-end needs.',
  ]);
}

function configPage(): string {
  const settingsOf = (process: Parameters<typeof describeSettings>[0]) =>
    describeSettings(process).map(({ name, fallback }) => [`\`${name}\``, fallback]);
  const durations = CLOCK_NAMES.map((name) => {
    const { meaning, real, demo } = DURATIONS[name];
    return [`\`${clockSetting(name)}\``, meaning, String(real), String(demo), least(name), leastInLive(name)];
  });
  return page('Configuration', [
    'Each process reads its settings from the environment at its start and checks them as a whole. If it cannot use them, it lists every problem and ends.',
    `A secret may come from a file, as a vault or a container provides it: the setting with \`_FILE\` after its name has the path, in the place of the setting itself. The line breaks at the end of the file do not count. These are: ${secretFileSettings()
      .map((name) => `\`${name}\``)
      .join(', ')}.`,
    '## The server',
    table(['setting', 'default'], settingsOf('server')),
    '## The migration',
    'It takes the server’s settings, and this one, which no server gets: the address of the account that owns the database.',
    table(['setting', 'default'], settingsOf('migrate')),
    '## The accounts of the database',
    '`npm run accounts` creates the accounts and databases that these addresses name. The first is a superuser’s, and needed for this alone.',
    table(['setting', 'default'], settingsOf('accounts')),
    '## Durations',
    `In milliseconds, ${SHORTEST_DURATION_MS} or more where nothing else is stated; a list is a schedule. \`MALIPO_CLOCKS\` chooses the column \`real\` or \`demo\`, and each duration can be set by itself.`,
    table(['setting', 'meaning', 'real', 'demo', 'least', 'least in live'], durations),
    '## The sandbox operator',
    'It shares the operator’s settings with the server: both must have the same values. The float is in whole units of each currency.',
    table(['setting', 'default'], settingsOf('sandbox')),
  ]);
}

function doctorPage(): string {
  const rowOf = ({ name, looksAt, remedy }: Pick<Check, 'name' | 'looksAt' | 'remedy'>) => [name, looksAt, remedy];
  const rows = (...kinds: readonly Check['on'][]) => CHECKS.filter(({ on }) => kinds.includes(on)).map(rowOf);
  return page('The doctor', [
    '`npm run staff -- doctor` looks at a deployment and says what is wrong with it, each with its remedy. It changes nothing. What it cannot reach it leaves out, and looks at the rest. It exits with 1 when something is wrong, and with 0 otherwise; notes are for people to know.',
    table(
      ['check', 'what it looks at', 'remedy'],
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

function page(title: string, parts: readonly string[]): string {
  return [`# ${title}`, NOTICE, ...parts].join('\n\n') + '\n';
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

if (process.argv[1] === import.meta.filename) {
  readArguments({ usage: 'usage: npm run docs\n\nWrites the generated pages of docs/.' });
  // The schema is no page of `generatedPages`: only tests that have a database compare it.
  const pages = { ...(await generatedPages()), 'docs/schema.sql': await schemaOfNewDatabase() };
  for (const [file, text] of Object.entries(pages)) writeFileSync(join(findProjectRoot(), file), text);
}

function least(name: ClockName): string {
  const ms = leastClockMs(name);
  return ms === SHORTEST_DURATION_MS ? '' : String(ms);
}

/** Of a schedule, its last entry must be as much. */
function leastInLive(name: ClockName): string {
  return name in LEAST_LIVE_CLOCKS ? String(LEAST_LIVE_CLOCKS[name as keyof typeof LEAST_LIVE_CLOCKS].ms) : '';
}
