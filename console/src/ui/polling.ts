// How often a page requests data that may have changed without a live update.
import { useQuery } from '@tanstack/react-query';
import { useIsLive } from '../live/live-updates.tsx';
import { usePresence } from './presence.ts';

const EVERY_MS = 5_000;
const SOONEST_MS = 5_000;
/** Timers last at most about 24 days. */
const LATEST_MS = 24 * 3_600_000;

/** In milliseconds, for a query's `refetchInterval`; false while live updates arrive, and while nobody is present. */
export function usePolling(): number | false {
  const isLive = useIsLive();
  const isPresent = usePresence();
  return !isLive && isPresent ? EVERY_MS : false;
}

/** One object of the API, kept up to date while somebody looks at it. */
export function useCurrent<Data>(queryKey: readonly unknown[], queryFn: () => Promise<Data>) {
  return useQuery({ queryKey, queryFn, refetchInterval: usePolling() });
}

/**
 * For a query's `refetchInterval`, in milliseconds: the polling interval without live updates, otherwise until the
 * first of these moments; false: never.
 */
export function useAskAgain(): (moments: readonly (string | null)[]) => number | false {
  const everyMs = usePolling();
  const isPresent = usePresence();
  return (moments) => (everyMs !== false || !isPresent ? everyMs : untilFirst(moments));
}

function untilFirst(moments: readonly (string | null)[]): number | false {
  const momentsMs = moments.filter((moment) => moment !== null).map((moment) => Date.parse(moment));
  if (momentsMs.length === 0) return false;
  return Math.min(Math.max(Math.min(...momentsMs) - Date.now() + 1, SOONEST_MS), LATEST_MS);
}
