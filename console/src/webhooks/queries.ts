// What the pages of webhooks ask the API for.
import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { usePolling } from '../ui/use-polling.ts';
import { useList } from '../ui/use-list.ts';
import type { DeliveryState, EventType } from './words.ts';

/** More than a merchant can have. */
const ALL_ENDPOINTS = 100;

export function useEndpoints() {
  return useQuery({
    queryKey: ['endpoints'],
    queryFn: async () =>
      (await answerOf(api.GET('/v1/console/endpoints', { params: { query: { limit: ALL_ENDPOINTS } } }))).data,
    refetchInterval: usePolling(),
  });
}

/** The URL of an endpoint; of one that is deleted, the id. */
export function useEndpointUrls(): (id: string) => string {
  const { data } = useEndpoints();
  return (id) => data?.find((endpoint) => endpoint.id === id)?.url ?? id;
}

export function useEndpoint(id: string) {
  return useQuery({
    queryKey: ['endpoint', id],
    queryFn: () => answerOf(api.GET('/v1/console/endpoints/{id}', { params: { path: { id } } })),
    refetchInterval: usePolling(),
  });
}

export type DeliveryFilters = { state?: string; endpoint_id?: string; created_from?: string; created_to?: string };

export function useDeliveries({ state, ...filters }: DeliveryFilters) {
  return useList(['deliveries', state, filters], (cursor) => {
    const query = {
      ...filters,
      // A value that no state has is refused by the API, in its own words.
      ...(state !== undefined && { state: state as DeliveryState }),
      ...(cursor !== undefined && { cursor }),
    };
    return answerOf(api.GET('/v1/console/deliveries', { params: { query } }));
  });
}

export function useDelivery(id: string) {
  return useQuery({
    queryKey: ['delivery', id],
    queryFn: () => answerOf(api.GET('/v1/console/deliveries/{id}', { params: { path: { id } } })),
    refetchInterval: usePolling(),
  });
}

export type EventFilters = { type?: string; object_id?: string; created_from?: string; created_to?: string };

export function useEvents({ type, ...filters }: EventFilters) {
  return useList(['events', type, filters], (cursor) => {
    const query = {
      ...filters,
      ...(type !== undefined && { type: type as EventType }),
      ...(cursor !== undefined && { cursor }),
    };
    return answerOf(api.GET('/v1/console/events', { params: { query } }));
  });
}

export function useEvent(id: string) {
  return useQuery({
    queryKey: ['event', id],
    queryFn: () => answerOf(api.GET('/v1/console/events/{id}', { params: { path: { id } } })),
    refetchInterval: usePolling(),
  });
}

export function useReplays() {
  return useList(['replays'], (cursor) =>
    answerOf(api.GET('/v1/console/replays', { params: { query: cursor === undefined ? {} : { cursor } } })),
  );
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
