// Keeps an operator's access token: asked for once, shared by every call, renewed before it runs out.

export type FetchedToken =
  | { readonly kind: 'token'; readonly token: string; readonly lifeSeconds: number }
  | { readonly kind: 'no_token'; readonly reason: string };

type TokenAnswer =
  { readonly kind: 'token'; readonly token: string } | { readonly kind: 'no_token'; readonly reason: string };

type TokenCache = {
  /** The token at hand, or a new one. Callers that come while a request for one is under way share its answer. */
  get(): Promise<TokenAnswer>;
  /** Forgets `token` if it is still the one at hand, so that late refusals of an old token do not cost the new one. */
  drop(token: string): void;
};

/** Renewed this long before the end, or at nine tenths of a short life: a token must outlive the call that carries it. */
const RENEW_BEFORE_MS = 60_000;
const SHORTEST_RENEWAL_SHARE = 0.1;
/** However long an operator says its token lives, we ask again after a day. */
const LONGEST_LIFE_MS = 24 * 60 * 60 * 1000;

/** `fetchToken` must not reject and must have a time-out of its own: no caller's deadline ends it for the others. */
export function createTokenCache(
  fetchToken: () => Promise<FetchedToken>,
  nowMs: () => number = () => performance.now(),
): TokenCache {
  let cached: { token: string; renewAtMs: number } | null = null;
  let underWay: Promise<TokenAnswer> | null = null;

  async function renew(): Promise<TokenAnswer> {
    try {
      const fetched = await fetchToken();
      if (fetched.kind === 'no_token') return fetched;
      const lifeMs = Math.min(fetched.lifeSeconds * 1000, LONGEST_LIFE_MS);
      const marginMs = Math.min(RENEW_BEFORE_MS, lifeMs * SHORTEST_RENEWAL_SHARE);
      cached = { token: fetched.token, renewAtMs: nowMs() + lifeMs - marginMs };
      return { kind: 'token', token: fetched.token };
    } finally {
      underWay = null;
    }
  }

  return {
    async get() {
      if (cached !== null && nowMs() < cached.renewAtMs) return { kind: 'token', token: cached.token };
      underWay ??= renew();
      return underWay;
    },
    drop(token) {
      if (cached?.token === token) cached = null;
    },
  };
}
