// The list of checkouts: pages at which payers pay, without a program of the merchant.
import { Button } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { referenceColumn } from '../payments/cells.tsx';
import { useSession } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { Filters, FilterSelect, FilterText, given, useFilters } from '../ui/filters.tsx';
import { formatCode } from '../ui/format.ts';
import { Moment } from '../ui/moment.tsx';
import { Listed, type Column } from '../ui/rows.tsx';
import { Page } from '../ui/page.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { useCheckouts, type CheckoutFilters } from './queries.ts';

const STATES = ['open', 'completed', 'expired', 'cancelled'];

export function Checkouts() {
  const mayMake = useMayMakeCheckouts();
  const { values, field, isFiltered } = useFilters(['state', 'reference']);
  const list = useCheckouts(given(values) as CheckoutFilters);
  return (
    <Page
      title="Checkouts"
      actions={
        mayMake && (
          <Button component={Link} href="/checkouts/new">
            New checkout
          </Button>
        )
      }
    >
      <Filters values={values}>
        <FilterSelect label="State" options={STATES} {...field('state')} />
        <FilterText label="Reference" {...field('reference')} />
      </Filters>
      <Listed
        list={list}
        label="Checkouts"
        columns={COLUMNS}
        empty={
          isFiltered
            ? 'No checkout matches.'
            : 'A checkout is a page where a payer pays you, through a link or a QR code. You need no server.'
        }
      />
    </Page>
  );
}

export function useMayMakeCheckouts(): boolean {
  const { roles } = useSession();
  return roles.includes('owner') || roles.includes('maker');
}

const COLUMNS: readonly Column<Schemas['Checkout']>[] = [
  { title: 'Amount', isNumber: true, cell: ({ amount, currency }) => <Amount amount={amount} currency={currency} /> },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { title: 'Use', cell: ({ use }) => formatCode(use) },
  { title: 'Paid', isNumber: true, cell: ({ paid_count: count }) => String(count) },
  { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
  referenceColumn('/checkouts'),
];
