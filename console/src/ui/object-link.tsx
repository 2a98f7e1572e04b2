// The id of an object as a link to its page, or as text if there is no page.
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';

const PAGES: Readonly<Record<string, readonly [noun: string, path: string]>> = {
  col_: ['Collection', '/collections'],
  pay_: ['Payout', '/payouts'],
  rev_: ['Refund', '/refunds'],
  chk_: ['Checkout', '/checkouts'],
  whe_: ['Endpoint', '/endpoints'],
  dlv_: ['Delivery', '/deliveries'],
  evt_: ['Event', '/events'],
};

export function ObjectLink({ id }: { readonly id: string }) {
  const page = PAGES[id.slice(0, 4)];
  if (page === undefined) return id;
  const [noun, path] = page;
  return <IdLink id={id} noun={noun} href={`${path}/${id}`} />;
}

type IdLinkProps = { readonly id: string; readonly noun: string; readonly href: string };

/** Short: the noun and the end of the id, which distinguishes it from its neighbours. The whole id is its title. */
export function IdLink({ id, noun, href }: IdLinkProps) {
  return (
    <Anchor component={Link} href={href} title={id}>
      {noun} <span className="keeps">…{id.slice(-6)}</span>
    </Anchor>
  );
}
