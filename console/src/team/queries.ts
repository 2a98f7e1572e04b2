// What the pages of the team ask the API for.
import type { paths } from '../../generated/api.ts';
import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';
import { useList } from '../ui/use-list.ts';
import { usePolling } from '../ui/use-polling.ts';

export function useInvitations() {
  return useQuery({
    queryKey: ['invitations'],
    queryFn: () => answerOf(api.GET('/v1/console/invitations')),
    refetchInterval: usePolling(),
  });
}

export function usePolicy() {
  return useQuery({
    queryKey: ['policy'],
    queryFn: () => answerOf(api.GET('/v1/console/policy')),
    refetchInterval: usePolling(),
  });
}

/** Values of an address are passed on as they are: the API says what is wrong with them. */
export type AuditFilters = Omit<
  NonNullable<paths['/v1/console/audit']['get']['parameters']['query']>,
  'cursor' | 'limit'
>;

export function useAuditEntries(filters: AuditFilters) {
  return useList(['audit', filters], (cursor) => {
    const query = { ...filters, ...(cursor !== undefined && { cursor }) };
    return answerOf(api.GET('/v1/console/audit', { params: { query } }));
  });
}
