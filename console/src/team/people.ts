// The members, for places where the API gives only ids.
import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../api/client.ts';

const FIVE_MINUTES_MS = 5 * 60_000;

function useMembers() {
  return useQuery({
    queryKey: ['members'],
    queryFn: () => answerOf(api.GET('/v1/console/members')),
    staleTime: FIVE_MINUTES_MS,
  });
}

/** The members as options of a field. */
export function useMemberOptions(): { value: string; label: string }[] {
  const { data } = useMembers();
  return data?.data.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` })) ?? [];
}

export type PersonOf = (userId: string) => Schemas['KnownPerson'];

/** The member; for a former member, only the id. */
export function usePeople(): PersonOf {
  const { data } = useMembers();
  return (userId) => {
    const { name = null, email = null } = data?.data.find(({ id }) => id === userId) ?? {};
    return { id: userId, name, email };
  };
}
