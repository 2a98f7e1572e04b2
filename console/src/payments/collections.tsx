// The list of collections.
import { api } from '../api/client.ts';
import { FilterText, useFilters } from '../ui/filters.tsx';
import { Listed } from '../ui/rows.tsx';
import { Page } from '../ui/page.tsx';
import { useExport } from '../ui/use-export.tsx';
import { paymentColumns } from './cells.tsx';
import { Count, PAYMENT_FILTERS, PaymentFilters, toQuery } from './payment-filters.tsx';
import { useCollectionCount, useCollections, type CollectionFilters } from './queries.ts';
import { COLLECTION_STATES } from './states.ts';

const FILTERS = [...PAYMENT_FILTERS, 'checkout_id'] as const;

export function Collections() {
  const filtering = useFilters(FILTERS);
  const filters = toQuery(filtering.values) as CollectionFilters;
  const list = useCollections(filters);
  const csv = useExport(() => api.GET('/v1/console/collections.csv', { params: { query: filters }, parseAs: 'blob' }));
  const count = useCollectionCount(filters);
  return (
    <Page title="Collections" actions={csv.button}>
      <PaymentFilters states={COLLECTION_STATES} filtering={filtering}>
        <FilterText label="Checkout (id)" {...filtering.field('checkout_id')} />
      </PaymentFilters>
      <Count count={count} />
      {csv.problem}
      <Listed
        list={list}
        label="Collections"
        columns={paymentColumns('/collections')}
        empty={
          filtering.isFiltered
            ? 'No collection matches.'
            : 'There is no collection yet. Your server makes them with an API key, payers at a checkout.'
        }
      />
    </Page>
  );
}
