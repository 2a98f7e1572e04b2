// After an act, everything that is shown is asked for again, the counts of what waits too. Nothing is shown before it is so.
import { useQueryClient } from '@tanstack/react-query';

export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries();
}
