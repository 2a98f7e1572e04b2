// The list of refunds that makers requested for payers.
import type { Schemas } from '../api/client.ts';
import { Listed } from '../ui/rows.tsx';
import { Page } from '../ui/page.tsx';
import { Filters, FilterSelect, given, useFilters } from '../ui/filters.tsx';
import { paymentColumns } from './cells.tsx';
import { useRefunds, type RefundFilters } from './queries.ts';

export const REFUND_COLUMNS = paymentColumns<Schemas['ConsoleReversal']>('/refunds', 'Requested');

const STATES = ['queued', 'released', 'reconciling', 'succeeded', 'failed', 'rejected', 'cancelled', 'expired'];

export function Refunds() {
  const { values, field, isFiltered } = useFilters(['state']);
  const list = useRefunds(given(values) as RefundFilters);
  return (
    <Page title="Refunds">
      <Filters values={values}>
        <FilterSelect label="State" options={STATES} {...field('state')} />
      </Filters>
      <Listed
        list={list}
        label="Refunds"
        columns={REFUND_COLUMNS}
        empty={
          isFiltered
            ? 'No refund matches.'
            : 'There is no refund yet. A maker asks for one on the page of a paid collection.'
        }
      />
    </Page>
  );
}
