// The requests of the pages of the team.
import { answerOf, api, type ListQuery } from '../api/client.ts';
import { useCurrent } from '../ui/polling.ts';
import { useList } from '../ui/rows.tsx';

export function useInvitations() {
  return useCurrent(['invitations'], () => answerOf(api.GET('/v1/console/invitations')));
}

export function usePolicy() {
  return useCurrent(['policy'], () => answerOf(api.GET('/v1/console/policy')));
}

export type AuditFilters = ListQuery<'/v1/console/audit'>;

export function useAuditEntries(filters: AuditFilters) {
  return useList(['audit', filters], (place) =>
    answerOf(api.GET('/v1/console/audit', { params: { query: { ...filters, ...place } } })),
  );
}
