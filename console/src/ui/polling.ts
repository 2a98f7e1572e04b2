// How often a page asks for what may have changed, where the service does not tell it.
import { useQuery } from '@tanstack/react-query';
import { useIsLive } from '../live/live-updates.tsx';
import { usePresence } from './presence.ts';

const EVERY_MS = 5_000;
const SOONEST_MS = 5_000;
/** Timers take no more than about 24 days. */
const LATEST_MS = 24 * 3_600_000;

/** In milliseconds, for a query's `refetchInterval`; false while live updates come, and while nobody is there. */
export function usePolling(): number | false {
  const isLive = useIsLive();
  const isPresent = usePresence();
  return !isLive && isPresent ? EVERY_MS : false;
}

/** One thing of the API, kept up to date while somebody looks at it. */
export function useCurrent<Data>(queryKey: readonly unknown[], queryFn: () => Promise<Data>) {
  return useQuery({ queryKey, queryFn, refetchInterval: usePolling() });
}

/**
 * For a query's `refetchInterval`, in milliseconds: as often as all is asked for while there are no live updates, otherwise at the first of
 * these moments; false: never.
 */
export function useAskAgain(): (moments: readonly (string | null)[]) => number | false {
  const everyMs = usePolling();
  const isPresent = usePresence();
  return (moments) => (everyMs !== false || !isPresent ? everyMs : untilFirst(moments));
}

function untilFirst(moments: readonly (string | null)[]): number | false {
  const known = moments.filter((moment) => moment !== null).map((moment) => Date.parse(moment));
  if (known.length === 0) return false;
  return Math.min(Math.max(Math.min(...known) - Date.now() + 1, SOONEST_MS), LATEST_MS);
}
