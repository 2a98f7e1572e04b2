// The requests of the pages of payments, under the keys by which changed objects are requested again.
import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type ListQuery } from '../api/client.ts';
import { useCurrent } from '../ui/polling.ts';
import { useList } from '../ui/rows.tsx';

export type CollectionFilters = ListQuery<'/v1/console/collections'>;
export type PayoutFilters = ListQuery<'/v1/console/payouts'>;
export type RefundFilters = ListQuery<'/v1/console/reversals'>;

export function useCollections(filters: CollectionFilters) {
  return useList(['collections', filters], (place) =>
    answerOf(api.GET('/v1/console/collections', { params: { query: { ...filters, ...place } } })),
  );
}

/** How many match these filters, or at least how many. Undefined while unknown. */
export function useCollectionCount({ sort: _, ...filters }: CollectionFilters) {
  return useQuery({
    queryKey: ['collections', 'count', filters],
    queryFn: () => answerOf(api.GET('/v1/console/collections/count', { params: { query: filters } })),
  }).data;
}

export function usePayoutCount({ sort: _, ...filters }: PayoutFilters) {
  return useQuery({
    queryKey: ['payouts', 'count', filters],
    queryFn: () => answerOf(api.GET('/v1/console/payouts/count', { params: { query: filters } })),
  }).data;
}

export function usePayouts(filters: PayoutFilters) {
  return useList(['payouts', filters], (place) =>
    answerOf(api.GET('/v1/console/payouts', { params: { query: { ...filters, ...place } } })),
  );
}

export function useRefunds(filters: RefundFilters) {
  return useList(['refunds', filters], (place) =>
    answerOf(api.GET('/v1/console/reversals', { params: { query: { ...filters, ...place } } })),
  );
}

export function useCollection(id: string) {
  return useCurrent(['collection', id], () =>
    answerOf(api.GET('/v1/console/collections/{id}', { params: { path: { id } } })),
  );
}

export function usePayout(id: string) {
  return useCurrent(['payout', id], () => answerOf(api.GET('/v1/console/payouts/{id}', { params: { path: { id } } })));
}

export function useRefund(id: string) {
  return useCurrent(['refund', id], () =>
    answerOf(api.GET('/v1/console/reversals/{id}', { params: { path: { id } } })),
  );
}

export function useBalance() {
  return useCurrent(['balance'], () => answerOf(api.GET('/v1/api/balance')));
}
