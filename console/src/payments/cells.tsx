// What rows of payments show alike.
import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { formatPhone } from '../ui/format.ts';
import { Moment } from '../ui/moment.tsx';
import { OPERATOR_NAMES } from '../ui/operator-names.ts';
import type { Column } from '../ui/rows.tsx';
import { StateBadge } from '../ui/state-badge.tsx';

export type Payment = Pick<
  Schemas['Payout'],
  'id' | 'reference' | 'phone' | 'amount' | 'currency' | 'created_at' | 'failure'
> & { readonly state: string };

/** The columns of a list of payments, whose rows lead to the pages under `path`. */
export function paymentColumns<Row extends Payment>(path: string): readonly Column<Row>[] {
  return [
    {
      title: 'Reference',
      cell: ({ id, reference }) => (
        <Anchor component={Link} inherit href={`${path}/${id}`} className="row-link">
          {reference}
        </Anchor>
      ),
    },
    { title: 'Phone', cell: ({ phone }) => <Phone phone={phone} /> },
    { title: 'Amount', isNumber: true, cell: ({ amount, currency }) => <Amount amount={amount} currency={currency} /> },
    { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
    { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
  ];
}

/** A number, and whose network pays it. */
export function Payee({ phone, operator }: Pick<Schemas['Payout'], 'phone' | 'operator'>) {
  return (
    <>
      <Phone phone={phone} />
      <Text size="xs" c="dimmed">
        {OPERATOR_NAMES[operator] ?? operator}
      </Text>
    </>
  );
}

export function Phone({ phone }: { readonly phone: string }) {
  return (
    <Text component="span" inherit style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}>
      {formatPhone(phone)}
    </Text>
  );
}
