// The common cells of rows of payments.
import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { formatPhone } from '../ui/format.ts';
import { Hint } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { OPERATOR_NAMES } from '../ui/operator-names.ts';
import { REFERENCE_TITLE } from '../ui/own-words.tsx';
import type { Column } from '../ui/rows.tsx';
import { StateBadge } from '../ui/state-badge.tsx';

export type Payment = Pick<
  Schemas['Payout'],
  'id' | 'reference' | 'phone' | 'amount' | 'currency' | 'created_at' | 'failure'
> & { readonly state: string };

/** The columns of a list of payments or refunds, whose rows link to the pages under `path`. */
export function paymentColumns<Row extends Payment>(path: string, created = 'Created'): readonly Column<Row>[] {
  return [
    { title: 'Phone', cell: ({ phone }) => <Phone phone={phone} /> },
    { title: 'Amount', isNumber: true, cell: ({ amount, currency }) => <Amount amount={amount} currency={currency} /> },
    { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
    { title: created, cell: ({ created_at }) => <Moment at={created_at} /> },
    referenceColumn(path),
  ];
}

/** The last column of a list: people know the object by its reference. The object is under `path`. */
export function referenceColumn<Row extends Pick<Payment, 'id' | 'reference'>>(path: string): Column<Row> {
  return {
    title: REFERENCE_TITLE,
    cell: ({ id, reference }) => (
      <Anchor component={Link} inherit href={`${path}/${id}`} className="row-link">
        <MerchantText text={reference} isLink />
      </Anchor>
    ),
  };
}

/** A number, and the operator that pays it. */
export function Payee({ phone, operator }: Pick<Schemas['Payout'], 'phone' | 'operator'>) {
  return (
    <>
      <Phone phone={phone} />
      <Hint>{OPERATOR_NAMES[operator] ?? operator}</Hint>
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
