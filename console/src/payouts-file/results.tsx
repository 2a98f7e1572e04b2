// The outcome of each row of a file while its payouts are created, and at the end.
import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { Phone } from '../payments/cells.tsx';
import { useSession } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { CopyText } from '../ui/copy-text.tsx';
import { downloadCsv } from '../ui/download.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { formatSpan } from '../ui/format.ts';
import { LongRows, type Column } from '../ui/rows.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { REFERENCE_TITLE } from '../ui/own-words.tsx';
import { useNow } from '../ui/use-now.ts';
import type { CheckedRow } from './check-rows.ts';
import type { Outcome } from './make-rows.ts';
import { payouts, sumOf } from './summary.tsx';
import { useMaking } from './use-making.ts';

type ResultsProps = {
  readonly name: string;
  readonly rows: readonly CheckedRow[];
  readonly onAgain: () => void;
  readonly onChoose: () => void;
};

type Shown = CheckedRow & { readonly id: string; readonly outcome: Outcome | null };

export function Results({ name, rows, onAgain, onChoose }: ResultsProps) {
  const { currency } = useSession().merchant;
  const { outcomes, isOver, pausedUntilMs, error, stop } = useMaking(rows);
  const nowMs = useNow();
  const shown = rows.map((row) => ({ ...row, id: String(row.number), outcome: outcomes.get(row.number) ?? null }));
  const createdRows = shown.filter(({ outcome }) => outcome?.kind === 'made');
  const isWhole = createdRows.length === rows.length;
  return (
    <Stack>
      <MerchantText text={name} />
      <Progress value={(outcomes.size / rows.length) * 100} aria-label="Rows that were tried" />
      <Text role="status">
        {createdRows.length} of {rows.length} made: <Amount amount={sumOf(createdRows).amount} currency={currency} />
        {pausedUntilMs !== null && `. Malipo asks to wait; going on in ${formatSpan(pausedUntilMs - nowMs)}`}
      </Text>
      {isOver ? (
        <>
          <ErrorNotice error={error} />
          <Alert color={isWhole ? 'teal' : 'orange'} title={isWhole ? 'All are made' : 'Not all are made'}>
            {isWhole
              ? `${payouts(rows.length)} wait for a release by another person.`
              : 'Rows that were made are not made again: continue now, or later with the same file.'}
          </Alert>
        </>
      ) : (
        <Text size="sm" c="dimmed">
          Stay on this page. If it closes, load the same file again: rows that were made are not made again.
        </Text>
      )}
      <Group>
        {isOver && !isWhole && <Button onClick={onAgain}>Check the file again and go on</Button>}
        {!isOver && (
          <Button variant="default" onClick={stop}>
            Stop
          </Button>
        )}
        {isOver && (
          <>
            <Button variant="default" onClick={() => download(shown)}>
              Download the results
            </Button>
            <Button variant="default" onClick={onChoose}>
              Choose another file
            </Button>
          </>
        )}
      </Group>
      <LongRows label="Results" columns={columnsIn(currency)} rows={shown} empty="" />
    </Stack>
  );
}

function columnsIn(currency: string): readonly Column<Shown>[] {
  return [
    { title: 'Row', isNumber: true, cell: ({ number }) => number },
    { title: 'Outcome', cell: ({ outcome }) => <OutcomeText outcome={outcome} /> },
    { title: 'Payee', cell: ({ payout }) => <Phone phone={payout.phone ?? ''} /> },
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ payout }) => <Amount amount={payout.amount ?? 0} currency={currency} />,
    },
    { title: REFERENCE_TITLE, cell: ({ payout }) => <MerchantText text={payout.reference ?? ''} /> },
  ];
}

function OutcomeText({ outcome }: { readonly outcome: Outcome | null }) {
  if (outcome === null)
    return (
      <Text c="dimmed" inherit>
        waiting
      </Text>
    );
  if (outcome.kind === 'made') return <ObjectLink id={outcome.id} />;
  if (outcome.kind === 'unknown') return <Text miw={200}>Not known. {outcome.message}</Text>;
  return (
    <Text miw={200} component="div">
      Refused: {outcome.message}
      {outcome.requestId !== null && (
        <div>
          <CopyText text={outcome.requestId} what="request id" />
        </div>
      )}
    </Text>
  );
}

function download(rows: readonly Shown[]): void {
  downloadCsv('payouts-made.csv', [
    ['row', 'phone', 'amount', 'reference', 'outcome', 'payout', 'reason'],
    ...rows.map(({ number, cells, outcome }) => [
      number,
      { text: cells.phone },
      { text: cells.amount },
      { text: cells.reference },
      outcome?.kind ?? 'not tried',
      outcome?.kind === 'made' ? outcome.id : null,
      { text: outcome !== null && outcome.kind !== 'made' ? outcome.message : null },
    ]),
  ]);
}
