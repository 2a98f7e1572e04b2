// When to ask again for what changes by the clock alone, of which there is no live update.
import { usePresence } from './presence.ts';
import { usePolling } from './use-polling.ts';

const SOONEST_MS = 5_000;
/** Timers take no more than about 24 days. */
const LATEST_MS = 24 * 3_600_000;

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
