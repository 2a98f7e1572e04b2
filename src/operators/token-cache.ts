// Caches what an operator gives for a time, such as an access token: requested once, shared by all calls, renewed before it expires.
import { z } from 'zod';
import type { HttpResult } from './http-client.ts';

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

/** Sends with a token. One that is refused is replaced once; a second 401 is returned. */
export async function sendWithToken(
  tokens: TokenCache,
  send: (token: string) => Promise<HttpResult>,
): Promise<HttpResult> {
  const first = await tokens.get();
  if (first.kind === 'no_token') return { kind: 'no_response', reason: first.reason };
  const result = await send(first.token);
  if (result.kind === 'no_response' || result.status !== 401) return result;
  tokens.drop(first.token);
  const second = await tokens.get();
  if (second.kind === 'no_token') return { kind: 'no_response', reason: second.reason };
  return send(second.token);
}

const tokenBody = z.object({
  // It becomes a header: visible ASCII only, and limited to the length of a header.
  access_token: z.string().regex(/^[\x21-\x7e]{1,8192}$/),
  expires_in: z.coerce.number().positive(),
});

/** The token in the response to a request for one, in the form of OAuth 2. */
export function readTokenResponse(result: HttpResult): FetchedToken {
  if (result.kind === 'no_response') return { kind: 'no_token', reason: `no token: ${result.reason}` };
  if (result.status !== 200) return { kind: 'no_token', reason: `no token: http ${result.status}` };
  const parsed = tokenBody.safeParse(result.body.kind === 'json' ? result.body.value : null);
  if (!parsed.success) return { kind: 'no_token', reason: 'no token: answer not understood' };
  return { kind: 'token', token: parsed.data.access_token, lifeSeconds: parsed.data.expires_in };
}
