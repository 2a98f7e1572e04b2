// Calls to Airtel's API: with its access token and its market, and signed with its public key.
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { withDeadline, type HttpResult, type OperatorHttpClient, type HttpRequest } from '../http-client.ts';
import {
  createTokenCache,
  leaseOf,
  readTokenResponse,
  sendWithToken,
  storeInMemory,
  type FetchedToken,
  type TokenStore,
} from '../token-cache.ts';
import type { AirtelMarket, SignedRequest } from './requests.ts';
import { readPublicKey, signatureOf } from './signing.ts';

export type AirtelCredentials = { readonly clientId: string; readonly clientSecret: string };

type SignedCall = { readonly isRefused: (result: HttpResult) => boolean; readonly onSend: () => void };

type AirtelSession = {
  /** A refused token is replaced once; a second 401 is returned. */
  call(request: HttpRequest, signal: AbortSignal): Promise<HttpResult>;
  /**
   * Like `call`, for a signed request. If `isRefused`, the key is fetched again, and the request is sent once more. Calls `onSend` before
   * the first byte of the request may leave.
   */
  callSigned(request: SignedRequest, handling: SignedCall, signal: AbortSignal): Promise<HttpResult>;
};

type SessionConfig = {
  readonly http: OperatorHttpClient;
  readonly credentials: AirtelCredentials;
  readonly market: AirtelMarket;
  readonly timeoutMs: number;
  readonly tokens: TokenStore;
};

/** Airtel gives the expiry of its keys in a format of its own; a key is fetched again after a day, or when it is refused. */
const KEY_LIFE_SECONDS = 24 * 60 * 60;

const keyBody = z.object({
  data: z.object({ key: z.string().refine((text) => readPublicKey(text) !== null) }),
});

export function openAirtelSession(config: SessionConfig): AirtelSession {
  const { http, market, timeoutMs } = config;
  const leaseMs = leaseOf(timeoutMs);
  const tokens = createTokenCache(() => fetchToken(config), { store: config.tokens, leaseMs });
  // A key is public, and the same for all clients.
  const keys = createTokenCache(() => fetchKey(timeoutMs, call), { store: storeInMemory(), leaseMs });

  function call({ headers, ...request }: HttpRequest, signal: AbortSignal, onSend?: () => void): Promise<HttpResult> {
    const ofMarket = { 'X-Country': market.country, 'X-Currency': market.currency };
    return sendWithToken(tokens, (token) => {
      onSend?.();
      return http.send({ ...request, headers: { ...headers, ...ofMarket, Authorization: `Bearer ${token}` } }, signal);
    });
  }

  function callOnce(
    request: SignedRequest,
    key: KeyObject,
    signal: AbortSignal,
    onSend: () => void,
  ): Promise<HttpResult> {
    const body = request.body(key);
    const headers = { 'Content-Type': 'application/json', ...signatureOf(body, key) };
    return call({ method: 'POST', path: request.path, headers, body }, signal, onSend);
  }

  return {
    call: (request, signal) => call(request, signal),
    async callSigned(request, { isRefused, onSend }, signal) {
      let result: HttpResult | null = null;
      for (let tries = 0; tries < 2; tries++) {
        const fetched = await keys.get();
        if (fetched.kind === 'no_token') return { ...fetched, kind: 'no_response', isUnprocessed: true };
        const key = readPublicKey(fetched.token);
        if (key === null) break;
        result = await callOnce(request, key, signal, onSend);
        if (!isRefused(result)) return result;
        keys.drop(fetched.token);
      }
      return result ?? { kind: 'no_response', reason: 'no key: answer not understood', isUnprocessed: true };
    },
  };
}

// The requests for token and key have their own deadline and not a caller's, because several callers wait for them.
async function fetchToken({ http, credentials, timeoutMs }: SessionConfig): Promise<FetchedToken> {
  const body = JSON.stringify({
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
    grant_type: 'client_credentials',
  });
  const request = {
    method: 'POST',
    path: '/auth/oauth2/token',
    headers: { 'Content-Type': 'application/json' },
    body,
  } as const;
  return readTokenResponse(await inTime(timeoutMs, (signal) => http.send(request, signal)));
}

async function fetchKey(timeoutMs: number, call: AirtelSession['call']): Promise<FetchedToken> {
  const request = { method: 'GET', path: '/v1/rsa/encryption-keys', headers: {} } as const;
  const result = await inTime(timeoutMs, (signal) => call(request, signal));
  // Without a key no payment is sent.
  const noKey = (reason: string) => ({ kind: 'no_token', reason: `no key: ${reason}`, cause: 'busy' }) as const;
  if (result.kind === 'no_response') return noKey(result.reason);
  if (result.status !== 200) return noKey(`http ${result.status}`);
  const parsed = keyBody.safeParse(result.body.kind === 'json' ? result.body.value : null);
  if (!parsed.success) return noKey('answer not understood');
  return { kind: 'token', token: parsed.data.data.key, lifeSeconds: KEY_LIFE_SECONDS };
}

function inTime(timeoutMs: number, act: (signal: AbortSignal) => Promise<HttpResult>): Promise<HttpResult> {
  return withDeadline<HttpResult>(timeoutMs, act, () => ({
    kind: 'no_response',
    reason: 'timed out',
    cause: 'no_answer',
  }));
}
