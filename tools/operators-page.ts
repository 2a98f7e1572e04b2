// The page of what each operator's adapter makes of each row of the sandbox's table: the expectations of the conformance suite.
import { OPERATORS, type OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import { DIALECTS, rowsOf, type ConformanceRow, type Dialect, type DirectionName } from '../test/operators/rows.ts';
import { code, markdownTable, page } from './markdown.ts';

const KINDS: readonly DirectionName[] = ['collection', 'payout', 'refund'];

export function operatorsPage(notice: string): string {
  const dialects = Object.entries(DIALECTS) as [OperatorId, Dialect][];
  const columns = KINDS.flatMap((kind) =>
    dialects
      .filter(([operator]) => OPERATORS[operator].capabilities[kind] !== null)
      .map(([operator, dialect]) => ({
        head: `${kind}: ${OPERATORS[operator].name}`,
        rows: new Map(rowsOf(kind, dialect).map((row) => [row.row, row])),
      })),
  );
  const rows = [...new Set(columns.flatMap(({ rows: of }) => [...of.keys()]))].sort();
  return page('Operators', notice, [
    'How each adapter reads each row of [the sandbox’s table](guides/test-numbers.md), as `test/operators/conformance.ts` asserts over HTTP. A cell has the sends, unless the first is accepted, then the first statuses, then the outcome; after `/` what messages to its address say instead. In each row the sandbox takes the payment once, or never if that stays `unknown`. `500` is any number outside the table.',
    markdownTable(
      ['row', ...columns.map(({ head }) => head)],
      rows.map((row) => [code(row), ...columns.map(({ rows: of }) => cell(of.get(row)))]),
    ),
    '`unknown` decides nothing: the send is repeated if that is safe, or the status is queried again. `paid_otherwise` and `receipt_reused` are discrepancies, which a person settles.',
  ]);
}

function cell(row: ConformanceRow | undefined): string {
  if (row === undefined) return '';
  const { sends, statuses, outcome, message } = row;
  const sent = sends.length === 1 && sends[0] === 'accepted' ? '' : `${counted(sends)};`;
  const said = message === undefined ? '' : `/${message}`;
  return `${sent}${[counted(statuses), outcome].filter((part) => part !== '').join(',')}${said}`;
}

/** `unknown×3,accepted`: without spaces, because each would count as a word of the documentation. */
function counted(kinds: readonly string[]): string {
  const runs: { kind: string; times: number }[] = [];
  for (const kind of kinds) {
    const last = runs.at(-1);
    if (last?.kind === kind) last.times += 1;
    else runs.push({ kind, times: 1 });
  }
  return runs.map(({ kind, times }) => (times === 1 ? kind : `${kind}×${times}`)).join(',');
}
