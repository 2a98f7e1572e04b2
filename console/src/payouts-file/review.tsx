// A checked file before the creation of payouts: first faulty rows, then earlier payouts, then those to create.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useBalance } from '../payments/queries.ts';
import { Phone } from '../payments/cells.tsx';
import { WarningList } from '../payments/warnings.tsx';
import { useSession } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { downloadCsv } from '../ui/download.ts';
import { amountInWords } from '../ui/format.ts';
import { LongRows, type Column } from '../ui/rows.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { OPERATOR_NAMES } from '../ui/operator-names.ts';
import { DESCRIPTION_TITLE, REFERENCE_TITLE } from '../ui/own-words.tsx';
import { Heading } from '../ui/page.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { submitting, useAct } from '../ui/use-act.ts';
import type { CheckedRow } from './check-rows.ts';
import { COLUMNS } from './read-file.ts';
import { payouts, Summary, sumOf, type Sum } from './summary.tsx';

type ReviewProps = {
  readonly name: string;
  readonly paymentRun: string;
  readonly rows: readonly CheckedRow[];
  readonly isBusy: boolean;
  readonly onPaymentRun: (paymentRun: string) => void;
  readonly onChoose: () => void;
  readonly onMake: (rows: readonly CheckedRow[]) => void;
};

type Shown = CheckedRow & { readonly id: string };

export function Review({ name, paymentRun, rows, isBusy, onPaymentRun, onChoose, onMake }: ReviewProps) {
  const { currency } = useSession().merchant;
  const { data: balance } = useBalance();
  const [isAsking, setAsking] = useState(false);
  const shown = rows.map((row) => ({ ...row, id: String(row.number) }));
  // An existing payout stays, whatever the file says now.
  const before = shown.filter(({ made }) => made !== null);
  const bad = shown.filter(({ made, problems }) => made === null && problems.length > 0);
  const good = shown.filter(({ made, problems }) => made === null && problems.length === 0);
  const { amount } = sumOf(good);
  const isEnough = balance !== undefined && amount <= balance.available;
  const counts = { all: rows.length, bad: bad.length, before, good };
  return (
    <Stack>
      <Text className="wraps">
        <MerchantText text={name} />
        {paymentRun !== '' && `, payment run “${paymentRun}”`}
      </Text>
      {bad.length > 0 && <Wrong rows={bad} />}
      <Summary {...counts} currency={currency} available={balance?.available} />
      <Group>
        <Button disabled={good.length === 0 || !isEnough || isBusy} onClick={() => setAsking(true)}>
          {bad.length > 0 ? `Make the ${payouts(good.length)} that can be made…` : `Make ${payouts(good.length)}…`}
        </Button>
        <Button variant="default" onClick={onChoose}>
          Choose another file
        </Button>
      </Group>
      {before.length > 0 && <MadeBefore rows={before} paymentRun={paymentRun} onPaymentRun={onPaymentRun} />}
      {good.length > 0 && <ToBeMade rows={good} currency={currency} />}
      {isAsking && (
        <ConfirmMaking
          {...sumOf(good)}
          currency={currency}
          bad={bad.length}
          onMake={() => onMake(good)}
          onClose={() => setAsking(false)}
        />
      )}
    </Stack>
  );
}

const WHAT_IS_WRONG: readonly Column<Shown>[] = [
  { title: 'Row', isNumber: true, cell: ({ number }) => number },
  {
    title: 'What is wrong',
    cell: ({ problems }) =>
      problems.map(({ column, message }, index) => (
        <Text key={index} size="sm" miw={{ base: 0, sm: 220 }} className="wraps">
          {column !== null && !message.startsWith(column) && <b>{column}: </b>}
          {message}
        </Text>
      )),
  },
];

/** The message, and the columns in which any of the rows has a value. */
function wrongColumns(rows: readonly Shown[]): readonly Column<Shown>[] {
  const filled = COLUMNS.filter((column) => rows.some(({ cells }) => cells[column] !== ''));
  const cellOf = (column: (typeof COLUMNS)[number]) => ({
    title: column,
    cell: ({ cells }: Shown) => <MerchantText text={cells[column]} />,
  });
  return [...WHAT_IS_WRONG, ...filled.map(cellOf)];
}

function Wrong({ rows }: { readonly rows: readonly Shown[] }) {
  const download = () =>
    downloadCsv('payouts-with-problems.csv', [
      [...COLUMNS, 'row', 'problems'],
      ...rows.map(({ cells, number, problems }) => [
        ...COLUMNS.map((column) => ({ text: cells[column] })),
        number,
        {
          text: problems.map(({ column, message }) => (column === null ? message : `${column}: ${message}`)).join(' '),
        },
      ]),
    ]);
  return (
    <>
      <Group justify="space-between">
        <Heading>{rows.length === 1 ? 'One row cannot be made' : `${rows.length} rows cannot be made`}</Heading>
        <Button variant="default" size="compact-sm" onClick={download}>
          Download them with the reasons
        </Button>
      </Group>
      <LongRows label="Rows that cannot be made" columns={wrongColumns(rows)} rows={rows} empty="" />
    </>
  );
}

const MADE_COLUMNS: readonly Column<Shown>[] = [
  { title: 'Row', isNumber: true, cell: ({ number }) => number },
  { title: 'Payout', cell: ({ made }) => made && <ObjectLink id={made.id} /> },
  { title: 'State', cell: ({ made }) => made && <StateBadge state={made.state} /> },
  { title: 'Made', cell: ({ made }) => made && <Moment at={made.created_at} /> },
  { title: REFERENCE_TITLE, cell: ({ cells }) => <MerchantText text={cells.reference} /> },
];

type MadeBeforeProps = {
  readonly rows: readonly Shown[];
  readonly paymentRun: string;
  readonly onPaymentRun: (paymentRun: string) => void;
};

function MadeBefore({ rows, paymentRun, onPaymentRun }: MadeBeforeProps) {
  const [name, setName] = useState('');
  const again = useAct(() => {
    onPaymentRun(name.trim());
    return Promise.resolve();
  });
  return (
    <>
      <Heading>Made before, and not made again</Heading>
      <form onSubmit={submitting(again)}>
        <Group align="end">
          <TextInput
            label="Pay these rows once more, as the payment run"
            description="Name the payment run, such as the month, or a second attempt of failed rows. Under one name each row is made once."
            placeholder={paymentRun === '' ? 'December' : `after “${paymentRun}”`}
            maxLength={60}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            maw={420}
          />
          <Button type="submit" variant="default" disabled={name.trim() === '' || name.trim() === paymentRun}>
            Check them for this payment run
          </Button>
        </Group>
      </form>
      <LongRows label="Rows that were made before" columns={MADE_COLUMNS} rows={rows} empty="" />
    </>
  );
}

function ToBeMade({ rows, currency }: { readonly rows: readonly Shown[]; readonly currency: string }) {
  const hasWarnings = rows.some(({ judgement }) => judgement !== null && judgement.warnings.length > 0);
  const columns: readonly Column<Shown>[] = [
    { title: 'Row', isNumber: true, cell: ({ number }) => number },
    { title: 'Payee', cell: ({ payout }) => <Phone phone={payout.phone ?? ''} /> },
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ payout }) => <Amount amount={payout.amount ?? 0} currency={currency} />,
    },
    ...(hasWarnings
      ? [
          {
            title: 'Look twice',
            cell: ({ judgement }: Shown) => <WarningList judgement={judgement} currency={currency} isApart />,
          },
        ]
      : []),
    { title: 'Operator', cell: ({ operator }) => OPERATOR_NAMES[operator ?? ''] ?? operator },
    { title: REFERENCE_TITLE, cell: ({ payout }) => <MerchantText text={payout.reference ?? ''} /> },
    { title: DESCRIPTION_TITLE, cell: ({ payout }) => <MerchantText text={payout.description ?? '–'} /> },
  ];
  return (
    <>
      <Heading>To be made</Heading>
      <LongRows label="Rows to be made" columns={columns} rows={rows} empty="" />
    </>
  );
}

type ConfirmMakingProps = Sum & {
  readonly currency: string;
  readonly bad: number;
  readonly onMake: () => void;
  readonly onClose: () => void;
};

/** The confirmation before the payouts of a file are created: the number and the total. */
function ConfirmMaking({ count, amount, currency, bad, onMake, onClose }: ConfirmMakingProps) {
  return (
    <Modal opened onClose={onClose} title={`Make ${payouts(count)}`} centered>
      <Stack>
        <div>
          <Text fw={600}>
            {payouts(count)}: <Amount amount={amount} currency={currency} />
          </Text>
          <Text size="sm" c="dimmed">
            {amountInWords(amount, currency)}
          </Text>
        </div>
        <Text size="sm">
          {bad > 0 && `${bad === 1 ? 'One row is' : `${bad} rows are`} wrong and not made. `}
          The amounts are held from now on, and sent once another person has released them.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Back
          </Button>
          <Button onClick={onMake}>Make them</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
