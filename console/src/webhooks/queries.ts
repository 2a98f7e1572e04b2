// The requests of the pages of webhooks.
import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type ListQuery, type Schemas } from '../api/client.ts';
import { useCurrent, usePolling } from '../ui/polling.ts';
import { useList } from '../ui/rows.tsx';

/** More than a merchant can have. */
const ALL_ENDPOINTS = 100;

export function useEndpoints() {
  return useCurrent(
    ['endpoints'],
    async () =>
      (await answerOf(api.GET('/v1/console/endpoints', { params: { query: { limit: ALL_ENDPOINTS } } }))).data,
  );
}

/** The URL of an endpoint; for a deleted one, the id. */
export function useEndpointUrls(): (id: string) => string {
  const { data } = useEndpoints();
  return (id) => data?.find((endpoint) => endpoint.id === id)?.url ?? id;
}

export function useEndpoint(id: string) {
  return useCurrent(['endpoint', id], () =>
    answerOf(api.GET('/v1/console/endpoints/{id}', { params: { path: { id } } })),
  );
}

export type DeliveryFilters = ListQuery<'/v1/console/deliveries'>;
export type EventFilters = ListQuery<'/v1/console/events'>;

export function useDeliveries(filters: DeliveryFilters) {
  return useList(['deliveries', filters], (place) =>
    answerOf(api.GET('/v1/console/deliveries', { params: { query: { ...filters, ...place } } })),
  );
}

export function useDelivery(id: string) {
  return useCurrent(['delivery', id], () =>
    answerOf(api.GET('/v1/console/deliveries/{id}', { params: { path: { id } } })),
  );
}

export function useEvents(filters: EventFilters) {
  return useList(['events', filters], (place) =>
    answerOf(api.GET('/v1/console/events', { params: { query: { ...filters, ...place } } })),
  );
}

export function useEvent(id: string) {
  return useCurrent(['event', id], () => answerOf(api.GET('/v1/console/events/{id}', { params: { path: { id } } })));
}

export function useReplays() {
  return useList(['replays'], (place) => answerOf(api.GET('/v1/console/replays', { params: { query: place } })));
}

/** Polled until it is completed. `begun` is its first state. */
export function useReplay(begun: Schemas['Replay']) {
  const every = usePolling();
  return useQuery({
    queryKey: ['replay', begun.id],
    queryFn: () => answerOf(api.GET('/v1/console/replays/{id}', { params: { path: { id: begun.id } } })),
    initialData: begun,
    refetchInterval: ({ state }) => (state.data?.state === 'completed' ? false : every),
  });
}
