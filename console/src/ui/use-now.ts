// The present moment, for ages and ends on a page.
import { useEffect, useState } from 'react';

const EVERY_MS = 5_000;

/** In milliseconds; renders again every few seconds. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
