// Makes the pages of docs/ that say what the code says: states, errors, configuration and signatures. A test holds them up to date.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HTTP_STATUS } from '../src/api/errors.ts';
import { clockSetting, describeSettings } from '../src/config.ts';
import { DEMO_CLOCKS, REAL_CLOCKS, type Clocks } from '../src/domain/clocks.ts';
import { COLLECTION_TRANSITIONS } from '../src/domain/payments/collection.ts';
import { ERROR_CODES, errorCategory, errorType } from '../src/domain/errors.ts';
import { FAILURE_CODES, failure } from '../src/domain/payments/failure.ts';
import { approvalState, PAYOUT_STATES, PAYOUT_TRANSITIONS } from '../src/domain/payments/payout.ts';
import { findProjectRoot } from '../src/dev/project-root.ts';
import { webhookTestVectors } from './webhook-test-vectors.ts';

const NOTICE = 'Made from the code by `npm run docs`; do not edit by hand.';

export function generatedPages(): Readonly<Record<string, string>> {
  return {
    'docs/states.md': statesPage(),
    'docs/errors.md': errorsPage(),
    'docs/config.md': configPage(),
    'docs/webhook-test-vectors.json': webhookTestVectors(),
  };
}

function statesPage(): string {
  return page('States', [
    'A fact that a state has no row for changes nothing. The database refuses every other step.',
    '## Collections',
    ...transitions('initiated', COLLECTION_TRANSITIONS),
    '### Why a collection or payout failed, or a collection expired',
    table(
      ['code', 'message'],
      FAILURE_CODES.map((code) => [`\`${code}\``, failure(code).message]),
    ),
    '## Payouts',
    ...transitions('queued', PAYOUT_TRANSITIONS),
    '### What people decided',
    table(
      ['state', 'approval_state'],
      PAYOUT_STATES.map((state) => [state, approvalState(state)]),
    ),
  ]);
}

function transitions(first: string, states: Readonly<Record<string, Readonly<Record<string, string>>>>): string[] {
  const moves = Object.entries(states).flatMap(([state, transitions]) =>
    Object.entries(transitions).map(([transition, next]) => ({ state, transition, next })),
  );
  const arrows = moves.map(({ state, transition, next }) => `  ${state} --> ${next}: ${transition}`);
  const finals = Object.keys(states).filter((state) => moves.every((move) => move.state !== state));
  const rows = moves.map(({ state, transition, next }) => [state, transition, next]);
  return [
    ['```mermaid', 'stateDiagram-v2', `  [*] --> ${first}`, ...arrows, '```'].join('\n'),
    table(['state', 'fact', 'next state'], [...rows, ...finals.map((state) => [state, '–', 'final'])]),
  ];
}

function errorsPage(): string {
  const rows = ERROR_CODES.map((code) => [
    `\`${code}\``,
    `\`${errorType(code)}\``,
    String(HTTP_STATUS[errorCategory(code)]),
  ]);
  return page('Errors', [
    'Every error answer has this shape; treat a code you do not know as its type.',
    '```json\n{"error": {"type", "code", "message", "param", "request_id", "errors": [{"param", "code", "message"}]}}\n```',
    table(['code', 'type', 'HTTP'], rows),
  ]);
}

function configPage(): string {
  const settingsOf = (process: 'server' | 'sandbox') =>
    describeSettings(process).map(({ name, fallback }) => [`\`${name}\``, fallback]);
  const clocks = (Object.keys(REAL_CLOCKS) as (keyof Clocks)[]).map((name) => [
    `\`${clockSetting(name)}\``,
    String(REAL_CLOCKS[name]),
    String(DEMO_CLOCKS[name]),
  ]);
  return page('Configuration', [
    'Read from the environment at start, checked as a whole; a process that cannot use it says all that is wrong and ends.',
    '## The server',
    table(['setting', 'default'], settingsOf('server')),
    '## Durations',
    'In milliseconds, 50 or more; a list is a schedule. `MALIPO_CLOCKS=demo` takes the second column, `real` the first; each can be set by itself.',
    table(['setting', 'real', 'demo'], clocks),
    '## The sandbox operator',
    'It knows the server by the operator’s settings, the same on both sides. The float is in whole units of each currency.',
    table(['setting', 'default'], settingsOf('sandbox')),
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
  for (const [file, text] of Object.entries(generatedPages())) writeFileSync(join(findProjectRoot(), file), text);
}
