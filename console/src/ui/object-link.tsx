// The id of an object as a link to its page, or as text where it has none.
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';

const PARTS: Readonly<Record<string, string>> = {
  col_: 'collections',
  pay_: 'payouts',
  rev_: 'refunds',
  chk_: 'checkouts',
  whe_: 'endpoints',
  dlv_: 'deliveries',
  evt_: 'events',
};

const NOUNS: Readonly<Record<string, string>> = {
  col_: 'Collection',
  pay_: 'Payout',
  rev_: 'Refund',
  chk_: 'Checkout',
  whe_: 'Endpoint',
  dlv_: 'Delivery',
  evt_: 'Event',
};

/** Short: the noun and the end of the id, which tells it from its neighbours. The whole id is its title. */
export function ObjectLink({ id }: { readonly id: string }) {
  const prefix = id.slice(0, 4);
  const part = PARTS[prefix];
  if (part === undefined) return id;
  return (
    <Anchor component={Link} href={`/${part}/${id}`} title={id}>
      {NOUNS[prefix]} <span className="keeps">…{id.slice(-6)}</span>
    </Anchor>
  );
}
