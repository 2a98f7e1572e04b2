// How often a page asks for what may have changed, where the service does not tell it.
import { useIsLive } from '../live/live-updates.tsx';
import { usePresence } from './presence.ts';

const EVERY_MS = 5_000;

/** In milliseconds, for a query's `refetchInterval`; false while live updates come, and while nobody is there. */
export function usePolling(): number | false {
  const isLive = useIsLive();
  const isPresent = usePresence();
  return !isLive && isPresent ? EVERY_MS : false;
}
