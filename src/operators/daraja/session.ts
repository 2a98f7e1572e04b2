// Calls to Daraja's API. All processes share one access token, because a new token invalidates the previous one.
import { withDeadline, type HttpRequest, type HttpResult, type OperatorHttpClient } from '../http-client.ts';
import {
  createTokenCache,
  leaseOf,
  readTokenResponse,
  sendWithToken,
  type FetchedToken,
  type TokenStore,
} from '../token-cache.ts';
import { isTokenRefused } from './statuses.ts';

export type DarajaCredentials = { readonly consumerKey: string; readonly consumerSecret: string };

export type DarajaSession = {
  /**
   * A refused token is replaced once, and the request is sent again; a second refusal is returned. Nothing else is sent again. After a
   * timeout the result says whether the request may have been sent.
   */
  call(request: HttpRequest): Promise<HttpResult>;
};

type SessionConfig = {
  readonly http: OperatorHttpClient;
  readonly credentials: DarajaCredentials;
  readonly timeoutMs: number;
  readonly tokens: TokenStore;
};

export function openDarajaSession(config: SessionConfig): DarajaSession {
  const { http, timeoutMs } = config;
  const tokens = createTokenCache(() => fetchToken(config), { store: config.tokens, leaseMs: leaseOf(timeoutMs) });

  return {
    call({ headers, ...request }) {
      // While only the token request is in progress, the call itself is not sent; after the deadline nothing is sent.
      let isUnprocessed = true;
      async function send(token: string, signal: AbortSignal): Promise<HttpResult> {
        isUnprocessed = false;
        const result = await http.send(
          { ...request, headers: { ...headers, Authorization: `Bearer ${token}` } },
          signal,
        );
        isUnprocessed = result.kind === 'response' && isTokenRefused(result);
        return result;
      }
      return withDeadline<HttpResult>(
        timeoutMs,
        (signal) => sendWithToken(tokens, (token) => send(token, signal), isTokenRefused),
        () => ({
          kind: 'no_response',
          reason: `timed out after ${timeoutMs} ms`,
          cause: 'no_answer',
          ...(isUnprocessed && { isUnprocessed }),
        }),
      );
    },
  };
}

// The request has its own deadline and not a caller's, because several callers wait for this token.
async function fetchToken({ http, credentials, timeoutMs }: SessionConfig): Promise<FetchedToken> {
  const basic = Buffer.from(`${credentials.consumerKey}:${credentials.consumerSecret}`).toString('base64');
  const request: HttpRequest = {
    method: 'GET',
    path: '/oauth/v1/generate?grant_type=client_credentials',
    headers: { Authorization: `Basic ${basic}` },
  };
  const result = await withDeadline<HttpResult>(
    timeoutMs,
    (signal) => http.send(request, signal),
    () => ({ kind: 'no_response', reason: 'timed out', cause: 'no_answer' }),
  );
  return readTokenResponse(result);
}
