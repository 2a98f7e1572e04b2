// The list of payouts.
import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { api } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { Listed } from '../ui/rows.tsx';
import { Page } from '../ui/page.tsx';
import { useExport } from '../ui/use-export.tsx';
import { useFilters } from '../ui/filters.tsx';
import { paymentColumns } from './cells.tsx';
import { Count, PAYMENT_FILTERS, PaymentFilters, toQuery } from './payment-filters.tsx';
import { usePayoutCount, usePayouts, type PayoutFilters } from './queries.ts';
import { PAYOUT_STATES } from './states.ts';

export function Payouts() {
  const session = useSession();
  const filtering = useFilters(PAYMENT_FILTERS);
  const filters = toQuery(filtering.values) as PayoutFilters;
  const list = usePayouts(filters);
  const csv = useExport(() => api.GET('/v1/console/payouts.csv', { params: { query: filters }, parseAs: 'blob' }));
  const count = usePayoutCount(filters);
  const acts = (
    <>
      {csv.button}
      {hasRole(session, 'maker') && (
        <>
          <Button component={Link} href="/payouts/file" variant="default">
            Payouts from a file
          </Button>
          <Button component={Link} href="/payouts/new">
            New payout
          </Button>
        </>
      )}
    </>
  );
  return (
    <Page title="Payouts" actions={acts}>
      <PaymentFilters states={PAYOUT_STATES} filtering={filtering} />
      <Count count={count} />
      {csv.problem}
      <Listed
        list={list}
        label="Payouts"
        columns={paymentColumns('/payouts')}
        empty={filtering.isFiltered ? 'No payout matches.' : 'There is no payout yet.'}
      />
    </Page>
  );
}
