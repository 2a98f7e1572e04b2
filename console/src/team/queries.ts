// What the pages of the team ask the API for.
import type { paths } from '../../generated/api.ts';
import { answerOf, api } from '../api/client.ts';
import { useCurrent } from '../ui/use-current.ts';
import { useList } from '../ui/use-list.ts';

export function useInvitations() {
  return useCurrent(['invitations'], () => answerOf(api.GET('/v1/console/invitations')));
}

export function usePolicy() {
  return useCurrent(['policy'], () => answerOf(api.GET('/v1/console/policy')));
}

/** Values of an address are passed on as they are: the API says what is wrong with them. */
export type AuditFilters = Omit<
  NonNullable<paths['/v1/console/audit']['get']['parameters']['query']>,
  'cursor' | 'limit'
>;

export function useAuditEntries(filters: AuditFilters) {
  return useList(['audit', filters], (place) =>
    answerOf(api.GET('/v1/console/audit', { params: { query: { ...filters, ...place } } })),
  );
}
