// The members, where the API says only who by id.
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

/** The members as the choices of a field. */
export function useMemberOptions(): { value: string; label: string }[] {
  const { data } = useMembers();
  return data?.data.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` })) ?? [];
}

export type PersonOf = (userId: string) => Schemas['KnownPerson'];

/** The member; of somebody who is none any more, the id alone. */
export function usePeople(): PersonOf {
  const { data } = useMembers();
  return (userId) => {
    const { name = null, email = null } = data?.data.find(({ id }) => id === userId) ?? {};
    return { id: userId, name, email };
  };
}
