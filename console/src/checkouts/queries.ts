// What the pages of checkouts ask the API.
import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';
import type { paths } from '../../generated/api.ts';
import { useList } from '../ui/use-list.ts';
import { usePolling } from '../ui/use-polling.ts';

export type CheckoutFilters = Pick<
  NonNullable<paths['/v1/console/checkouts']['get']['parameters']['query']>,
  'state' | 'reference'
>;

export function useCheckouts(filters: CheckoutFilters) {
  return useList(['checkouts', filters], (cursor) =>
    answerOf(
      api.GET('/v1/console/checkouts', { params: { query: { ...filters, ...(cursor !== undefined && { cursor }) } } }),
    ),
  );
}

export function useCheckout(id: string) {
  return useQuery({
    queryKey: ['checkout', id],
    queryFn: () => answerOf(api.GET('/v1/console/checkouts/{id}', { params: { path: { id } } })),
    refetchInterval: usePolling(),
  });
}
