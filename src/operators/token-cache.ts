// Caches a token that an operator gives for a time: requested once, shared by all calls and all processes, and renewed before it expires.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { HttpResult } from './http-client.ts';

export type FetchedToken = { readonly kind: 'token'; readonly token: string; readonly lifeSeconds: number } | NoToken;

/** `account`: the operator refuses our credentials. `busy`: it gives no token now. Without a cause: our own store is unavailable. */
type NoToken = { readonly kind: 'no_token'; readonly reason: string; readonly cause?: 'account' | 'busy' };

type TokenResult = { readonly kind: 'token'; readonly token: string } | NoToken;

type TokenCache = {
  /** Returns the cached token or a new one. Concurrent callers share one request and its result. */
  get(): Promise<TokenResult>;
  /** Drops `token` if it is still cached, so that a late refusal of an old token does not drop the new one. */
  drop(token: string): void;
};

/** A token that all processes share. */
export type StoredToken = {
  /** Counts the renewals. */
  readonly number: number;
  /** Null: the token can no longer be decrypted. */
  readonly token: string | null;
  /** The time until the token must be renewed; below zero if its renewal is overdue. */
  readonly renewInMs: number;
};

/** The token of one product that all processes share. Every method may reject. */
export type TokenStore = {
  /** Null: no token is stored. */
  read(): Promise<StoredToken | null>;
  /** True: only the caller renews the token of this number (0 if there is none) until `leaseMs` have passed. */
  beginRenewal(number: number, leaseMs: number): Promise<boolean>;
  /** Replaces the token of this number, unless it was replaced already; null: there is no new token, and another process may try. */
  endRenewal(number: number, renewed: { readonly token: string; readonly renewInMs: number } | null): Promise<void>;
};

/** An allowance for the steps before and after the request for a token. */
const RENEWAL_MARGIN_MS = 2000;

/** How long a process may take to renew a token whose request has this timeout. */
export function leaseOf(timeoutMs: number): number {
  return timeoutMs + RENEWAL_MARGIN_MS;
}

/** A store for tokens that a process does not share. */
export function storeInMemory(): TokenStore {
  return {
    read: () => Promise.resolve(null),
    beginRenewal: () => Promise.resolve(true),
    endRenewal: () => Promise.resolve(),
  };
}

type TokenCacheOptions = {
  readonly store: TokenStore;
  /** How long a renewal may take before another process makes it. Longer than `fetchToken` takes. */
  readonly leaseMs: number;
  readonly nowMs?: () => number;
};

/** A token is renewed this long before it expires, or after nine tenths of a short life, so that it outlives the call. */
const RENEW_BEFORE_MS = 60_000;
const SHORTEST_RENEWAL_SHARE = 0.1;
/** A token is renewed after a day, even if the operator declares a longer life. */
const LONGEST_LIFE_MS = 24 * 60 * 60 * 1000;
const NEXT_READ_MS = 100;

/**
 * A process reads the store once for each token, and not at all for a call that finds its token cached. `fetchToken` must not reject and
 * must have its own timeout, because several callers wait for it.
 */
export function createTokenCache(
  fetchToken: () => Promise<FetchedToken>,
  { store, leaseMs, nowMs = () => performance.now() }: TokenCacheOptions,
): TokenCache {
  let cached: { token: string; renewAtMs: number } | null = null;
  let refused: string | null = null;
  let inProgress: Promise<TokenResult> | null = null;

  function keep(token: string, renewInMs: number): TokenResult {
    cached = { token, renewAtMs: nowMs() + renewInMs };
    return { kind: 'token', token };
  }

  async function renewStored(number: number): Promise<TokenResult> {
    const beganMs = nowMs();
    const fetched = await fetchToken();
    if (fetched.kind === 'no_token') {
      await store.endRenewal(number, null);
      return fetched;
    }
    const lifeMs = Math.min(fetched.lifeSeconds * 1000, LONGEST_LIFE_MS);
    const marginMs = Math.min(RENEW_BEFORE_MS, lifeMs * SHORTEST_RENEWAL_SHARE);
    // The token's life began at some time during our request.
    const renewInMs = lifeMs - marginMs - (nowMs() - beganMs);
    const result = keep(fetched.token, renewInMs);
    await store.endRenewal(number, { token: fetched.token, renewInMs });
    return result;
  }

  /** Returns the token that this or another process gets. If that process dies, another one takes over after its lease. */
  async function obtain(): Promise<TokenResult> {
    const untilMs = nowMs() + 2 * leaseMs;
    while (nowMs() < untilMs) {
      const stored = await store.read();
      const isUsable = stored !== null && stored.token !== null && stored.renewInMs > 0 && stored.token !== refused;
      if (isUsable) return keep(stored.token, stored.renewInMs);
      const number = stored?.number ?? 0;
      if (await store.beginRenewal(number, leaseMs)) return renewStored(number);
      await sleep(NEXT_READ_MS);
    }
    return { kind: 'no_token', reason: 'no token: another process gets none', cause: 'busy' };
  }

  async function renew(): Promise<TokenResult> {
    try {
      return await obtain();
    } catch {
      // The operator may still accept the cached token. Without one, the fault is ours and not the operator's.
      if (cached !== null) return { kind: 'token', token: cached.token };
      return { kind: 'no_token', reason: 'no token: the store of tokens is unavailable' };
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
      if (cached?.token !== token) return;
      cached = null;
      refused = token;
    },
  };
}

/** Whether the response refuses the token, and so precedes any processing. */
function isUnauthorised(response: Extract<HttpResult, { kind: 'response' }>): boolean {
  return response.status === 401;
}

/** Sends with a token. A refused token is replaced once; a second refusal is returned. */
export async function sendWithToken(
  tokens: TokenCache,
  send: (token: string) => Promise<HttpResult>,
  isRefused = isUnauthorised,
): Promise<HttpResult> {
  const first = await tokens.get();
  if (first.kind === 'no_token') return unsent(first);
  const result = await send(first.token);
  if (result.kind === 'no_response' || !isRefused(result)) return result;
  tokens.drop(first.token);
  const second = await tokens.get();
  return second.kind === 'no_token' ? unsent(second) : send(second.token);
}

function unsent({ reason, cause }: NoToken): HttpResult {
  return { kind: 'no_response', reason, ...(cause !== undefined && { cause }), isUnprocessed: true };
}

const tokenBody = z.object({
  // The token becomes a header: visible ASCII only, no longer than a header may be.
  access_token: z.string().regex(/^[\x21-\x7e]{1,8192}$/),
  expires_in: z.coerce.number().positive(),
});

/** The token in the response to a token request, in the form of OAuth 2. */
export function readTokenResponse(result: HttpResult): FetchedToken {
  if (result.kind === 'no_response') return noToken(result.reason);
  if (result.status !== 200)
    return noToken(`http ${result.status}`, REFUSES_US.has(result.status) ? 'account' : 'busy');
  const parsed = tokenBody.safeParse(result.body.kind === 'json' ? result.body.value : null);
  if (!parsed.success) return noToken('answer not understood');
  return { kind: 'token', token: parsed.data.access_token, lifeSeconds: parsed.data.expires_in };
}

/** At the token's address these statuses can only refuse our credentials or the address that we call from. */
const REFUSES_US: ReadonlySet<number> = new Set([400, 401, 403]);

// Without a token no payment is sent, whatever the outcome of the token request.
function noToken(reason: string, cause: 'account' | 'busy' = 'busy'): FetchedToken {
  return { kind: 'no_token', reason: `no token: ${reason}`, cause };
}
