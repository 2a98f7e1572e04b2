// The list of payouts.
import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { hasRole, useSession } from '../session/session.ts';
import { Page } from '../ui/page.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { More, Rows } from '../ui/rows.tsx';
import { useFilters } from '../ui/use-filters.ts';
import { paymentColumns } from './cells.tsx';
import { Count, PAYMENT_FILTERS, PaymentFilters, toQuery } from './payment-filters.tsx';
import { usePayouts, usePayoutCount, type PayoutFilters } from './queries.ts';
import { PAYOUT_STATES } from './states.ts';

export function Payouts() {
  const session = useSession();
  const { values, set } = useFilters(PAYMENT_FILTERS);
  const filters = toQuery(values) as PayoutFilters;
  const { query, more } = usePayouts(filters);
  const count = usePayoutCount(filters);
  const newPayout = hasRole(session, 'maker') && (
    <>
      <Button component={Link} href="/payouts/file" variant="default">
        Payouts from a file
      </Button>
      <Button component={Link} href="/payouts/new">
        New payout
      </Button>
    </>
  );
  return (
    <Page title="Payouts" actions={newPayout}>
      <PaymentFilters states={PAYOUT_STATES} values={values} currency={session.merchant.currency} set={set} />
      <Count count={count} />
      <Loaded query={query}>
        {(rows) => (
          <>
            <Rows label="Payouts" columns={paymentColumns('/payouts')} rows={rows} empty="No payout fits." />
            <More {...more} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
