// The total of a file, by operator and in all, compared with the available balance.
import { Alert } from '@mantine/core';
import { Amount } from '../ui/amount.tsx';
import { Fields } from '../ui/fields.tsx';
import { amountInWords } from '../ui/format.ts';
import { OPERATOR_NAMES } from '../ui/operator-names.ts';
import type { CheckedRow } from './check-rows.ts';

export type Sum = { readonly count: number; readonly amount: number };

/** Whole numbers of the smallest unit, which the operators' limits keep far below where numbers lose digits. */
export function sumOf(rows: readonly CheckedRow[]): Sum {
  return { count: rows.length, amount: rows.reduce((sum, { payout }) => sum + (payout.amount ?? 0), 0) };
}

type SummaryProps = {
  readonly all: number;
  readonly bad: number;
  readonly before: readonly CheckedRow[];
  readonly good: readonly CheckedRow[];
  readonly currency: string;
  /** Undefined while unknown. */
  readonly available: number | undefined;
};

export function Summary({ all, bad, before, good, currency, available }: SummaryProps) {
  const total = sumOf(good);
  const operators = [...new Set(good.map(({ operator }) => operator ?? ''))].sort();
  const shown = ({ count, amount }: Sum) => (
    <>
      {payouts(count)}: <Amount amount={amount} currency={currency} />
    </>
  );
  const left = available === undefined ? undefined : available - total.amount;
  return (
    <>
      <Fields
        label="The file"
        fields={[
          ['Rows', String(all)],
          ['Wrong', bad === 0 ? 'none' : `${bad}, and not made`],
          before.length > 0 && ['Made before', shown(sumOf(before))],
          ...operators.map(
            (operator) =>
              [
                OPERATOR_NAMES[operator] ?? operator,
                shown(sumOf(good.filter((row) => row.operator === operator))),
              ] as const,
          ),
          ['To be made', shown(total)],
          total.amount > 0 && ['In words', amountInWords(total.amount, currency)],
          [
            'Available',
            available === undefined ? '…' : <Amount key="available" amount={available} currency={currency} />,
          ],
          left !== undefined &&
            left >= 0 && ['Available then', <Amount key="left" amount={left} currency={currency} />],
        ]}
      />
      {left !== undefined && left < 0 && (
        <Alert color="orange" title="There is too little available for this file">
          <Amount amount={-left} currency={currency} /> more is needed. Nothing is made until there is enough.
        </Alert>
      )}
    </>
  );
}

export function payouts(count: number): string {
  return count === 1 ? 'one payout' : `${count} payouts`;
}
