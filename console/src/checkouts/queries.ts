// The requests of the pages of checkouts.
import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type ListQuery, type Schemas } from '../api/client.ts';
import { useAskAgain } from '../ui/polling.ts';
import { useList } from '../ui/rows.tsx';

export type CheckoutFilters = Pick<ListQuery<'/v1/console/checkouts'>, 'state' | 'reference'>;

export function useCheckouts(filters: CheckoutFilters) {
  return useList(
    ['checkouts', filters],
    (place) => answerOf(api.GET('/v1/console/checkouts', { params: { query: { ...filters, ...place } } })),
    endOf,
  );
}

/** An open checkout expires without a live update. */
function endOf({ state, expires_at }: Pick<Schemas['Checkout'], 'state' | 'expires_at'>): string | null {
  return state === 'open' ? expires_at : null;
}

export function useCheckout(id: string) {
  const askAgain = useAskAgain();
  return useQuery({
    queryKey: ['checkout', id],
    queryFn: () => answerOf(api.GET('/v1/console/checkouts/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => askAgain([data === undefined ? null : endOf(data)]),
  });
}
