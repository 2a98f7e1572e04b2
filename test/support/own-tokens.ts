// The token of an operator's product as one process alone has it, for tests of an adapter without a database.
import type { TokenStore } from '../../src/operators/token-cache.ts';

export function ownTokens(nowMs: () => number = () => performance.now()): TokenStore {
  let stored: { number: number; token: string; renewAtMs: number } | null = null;
  return {
    read: () => Promise.resolve(stored && { ...stored, renewInMs: stored.renewAtMs - nowMs() }),
    beginRenewal: (number) => Promise.resolve(number === (stored?.number ?? 0)),
    endRenewal(number, renewed) {
      if (renewed !== null)
        stored = { number: number + 1, token: renewed.token, renewAtMs: nowMs() + renewed.renewInMs };
      return Promise.resolve();
    },
  };
}
