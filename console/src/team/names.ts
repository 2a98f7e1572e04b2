// The names of the members, where the API says only who by id.
import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';

const FIVE_MINUTES_MS = 5 * 60_000;

function useMembers() {
  return useQuery({
    queryKey: ['members'],
    queryFn: () => answerOf(api.GET('/v1/console/members')),
    staleTime: FIVE_MINUTES_MS,
  });
}

/** The members as the choices of a field. */
export function useMemberOptions(): { value: string; label: string }[] {
  const { data } = useMembers();
  return data?.data.map(({ id, name }) => ({ value: id, label: name })) ?? [];
}

/** The name of a member; of somebody who is none any more, the id. */
export function useNames(): (userId: string) => string {
  const { data } = useMembers();
  return (userId) => data?.data.find(({ id }) => id === userId)?.name ?? userId;
}
