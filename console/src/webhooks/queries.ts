// What the pages of webhooks ask the API for.
import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { useCurrent, usePolling } from '../ui/polling.ts';
import { useList } from '../ui/use-list.ts';
import type { DeliveryState, EventType } from './words.ts';

/** More than a merchant can have. */
const ALL_ENDPOINTS = 100;

export function useEndpoints() {
  return useCurrent(
    ['endpoints'],
    async () =>
      (await answerOf(api.GET('/v1/console/endpoints', { params: { query: { limit: ALL_ENDPOINTS } } }))).data,
  );
}

/** The URL of an endpoint; of one that is deleted, the id. */
export function useEndpointUrls(): (id: string) => string {
  const { data } = useEndpoints();
  return (id) => data?.find((endpoint) => endpoint.id === id)?.url ?? id;
}

export function useEndpoint(id: string) {
  return useCurrent(['endpoint', id], () =>
    answerOf(api.GET('/v1/console/endpoints/{id}', { params: { path: { id } } })),
  );
}

export type DeliveryFilters = { state?: string; endpoint_id?: string; created_from?: string; created_to?: string };

export function useDeliveries({ state, ...filters }: DeliveryFilters) {
  return useList(['deliveries', state, filters], (place) => {
    // A value that no state has is refused by the API, in its own words.
    const query = { ...filters, ...place, ...(state !== undefined && { state: state as DeliveryState }) };
    return answerOf(api.GET('/v1/console/deliveries', { params: { query } }));
  });
}

export function useDelivery(id: string) {
  return useCurrent(['delivery', id], () =>
    answerOf(api.GET('/v1/console/deliveries/{id}', { params: { path: { id } } })),
  );
}

export type EventFilters = { type?: string; object_id?: string; created_from?: string; created_to?: string };

export function useEvents({ type, ...filters }: EventFilters) {
  return useList(['events', type, filters], (place) => {
    const query = { ...filters, ...place, ...(type !== undefined && { type: type as EventType }) };
    return answerOf(api.GET('/v1/console/events', { params: { query } }));
  });
}

export function useEvent(id: string) {
  return useCurrent(['event', id], () => answerOf(api.GET('/v1/console/events/{id}', { params: { path: { id } } })));
}

export function useReplays() {
  return useList(['replays'], (place) => answerOf(api.GET('/v1/console/replays', { params: { query: place } })));
}

/** Asked for again until it is completed. `begun` is how it began. */
export function useReplay(begun: Schemas['Replay']) {
  const every = usePolling();
  return useQuery({
    queryKey: ['replay', begun.id],
    queryFn: () => answerOf(api.GET('/v1/console/replays/{id}', { params: { path: { id: begun.id } } })),
    initialData: begun,
    refetchInterval: ({ state }) => (state.data?.state === 'completed' ? false : every),
  });
}
