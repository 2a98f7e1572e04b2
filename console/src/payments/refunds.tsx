// The list of refunds: what a maker asked to be given back to a payer.
import type { Schemas } from '../api/client.ts';
import { Listed } from '../ui/listed.tsx';
import { Page } from '../ui/page.tsx';
import { Amount } from '../ui/amount.tsx';
import { Moment } from '../ui/moment.tsx';
import type { Column } from '../ui/rows.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { given, useFilters } from '../ui/use-filters.ts';
import { Phone, referenceColumn } from './cells.tsx';
import { Filters, FilterSelect } from '../ui/filters.tsx';
import { useRefunds, type RefundFilters } from './queries.ts';

const STATES = ['queued', 'released', 'reconciling', 'succeeded', 'failed', 'rejected', 'cancelled', 'expired'];

export function Refunds() {
  const { values, set, isFiltered } = useFilters(['state']);
  const list = useRefunds(given(values) as RefundFilters);
  return (
    <Page title="Refunds">
      <Filters values={values}>
        <FilterSelect label="State" options={STATES} value={values.state} onChange={(state) => set('state', state)} />
      </Filters>
      <Listed
        list={list}
        label="Refunds"
        columns={refundColumns()}
        empty={
          isFiltered
            ? 'No refund matches.'
            : 'There is no refund yet. A maker asks for one on the page of a paid collection.'
        }
      />
    </Page>
  );
}

export function refundColumns(): readonly Column<Schemas['ConsoleReversal']>[] {
  return [
    { title: 'Phone', cell: ({ phone }) => <Phone phone={phone} /> },
    { title: 'Amount', isNumber: true, cell: ({ amount, currency }) => <Amount amount={amount} currency={currency} /> },
    { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
    { title: 'Requested', cell: ({ created_at }) => <Moment at={created_at} /> },
    referenceColumn('/refunds'),
  ];
}
