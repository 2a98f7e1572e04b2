// The present moment, for what a page says of ages and ends.
import { useEffect, useState } from 'react';

const EVERY_MS = 5_000;

/** In milliseconds; renders anew every few seconds. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
