// The list of collections.
import { useSession } from '../session/session.ts';
import { Page } from '../ui/page.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { More, Rows } from '../ui/rows.tsx';
import { useFilters } from '../ui/use-filters.ts';
import { paymentColumns } from './cells.tsx';
import { Count, PAYMENT_FILTERS, PaymentFilters, toQuery } from './payment-filters.tsx';
import { useCollections, useCollectionCount, type CollectionFilters } from './queries.ts';
import { COLLECTION_STATES } from './states.ts';

export function Collections() {
  const session = useSession();
  const { values, set } = useFilters(PAYMENT_FILTERS);
  const filters = toQuery(values) as CollectionFilters;
  const { query, more } = useCollections(filters);
  const count = useCollectionCount(filters);
  return (
    <Page title="Collections">
      <PaymentFilters states={COLLECTION_STATES} values={values} currency={session.merchant.currency} set={set} />
      <Count count={count} />
      <Loaded query={query}>
        {(rows) => (
          <>
            <Rows
              label="Collections"
              columns={paymentColumns('/collections')}
              rows={rows}
              empty="No collection fits. A collection is made with an API key."
            />
            <More {...more} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
