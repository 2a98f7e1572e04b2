// One thing of the API, kept up to date while somebody looks at it.
import { useQuery } from '@tanstack/react-query';
import { usePolling } from './use-polling.ts';

export function useCurrent<Data>(queryKey: readonly unknown[], queryFn: () => Promise<Data>) {
  return useQuery({ queryKey, queryFn, refetchInterval: usePolling() });
}
