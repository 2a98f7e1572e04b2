// Caches an operator's access token: requested once, shared by all calls, renewed before it expires.

export type FetchedToken =
  | { readonly kind: 'token'; readonly token: string; readonly lifeSeconds: number }
  | { readonly kind: 'no_token'; readonly reason: string };

type TokenResult =
  { readonly kind: 'token'; readonly token: string } | { readonly kind: 'no_token'; readonly reason: string };

type TokenCache = {
  /** Returns the cached token or a new one. Concurrent callers share one request and its result. */
  get(): Promise<TokenResult>;
  /** Drops `token` if it is still cached, so that a late refusal of an old token does not drop the new one. */
  drop(token: string): void;
};

/** Renewed so long before it expires, or after nine tenths of a short life, so that it outlives the call. */
const RENEW_BEFORE_MS = 60_000;
const SHORTEST_RENEWAL_SHARE = 0.1;
/** A token is renewed after a day, even if the operator declares a longer life. */
const LONGEST_LIFE_MS = 24 * 60 * 60 * 1000;

/** `fetchToken` must not reject and must have its own time-out, because several callers wait for it. */
export function createTokenCache(
  fetchToken: () => Promise<FetchedToken>,
  nowMs: () => number = () => performance.now(),
): TokenCache {
  let cached: { token: string; renewAtMs: number } | null = null;
  let inProgress: Promise<TokenResult> | null = null;

  async function renew(): Promise<TokenResult> {
    try {
      const fetched = await fetchToken();
      if (fetched.kind === 'no_token') return fetched;
      const lifeMs = Math.min(fetched.lifeSeconds * 1000, LONGEST_LIFE_MS);
      const marginMs = Math.min(RENEW_BEFORE_MS, lifeMs * SHORTEST_RENEWAL_SHARE);
      cached = { token: fetched.token, renewAtMs: nowMs() + lifeMs - marginMs };
      return { kind: 'token', token: fetched.token };
    } finally {
      inProgress = null;
    }
  }

  return {
    async get() {
      if (cached !== null && nowMs() < cached.renewAtMs) return { kind: 'token', token: cached.token };
      inProgress ??= renew();
      return inProgress;
    },
    drop(token) {
      if (cached?.token === token) cached = null;
    },
  };
}
