// One product of MTN's API (collections or disbursements): its own credentials and token, and calls that carry them.
import { withDeadline, type HttpResult, type OperatorHttpClient, type HttpRequest } from '../http-client.ts';
import {
  createTokenCache,
  leaseOf,
  readTokenResponse,
  sendWithToken,
  type FetchedToken,
  type TokenStore,
} from '../token-cache.ts';

/** The first part of every path. Each product has its own subscription, API user, key and token. */
type MtnProductName = 'collection' | 'disbursement';

export type MtnCredentials = {
  readonly subscriptionKey: string;
  readonly apiUser: string;
  readonly apiKey: string;
};

export type MtnProduct = {
  /** `path` is below `/{product}/v1_0`. A refused token is replaced once; a second 401 is returned. */
  call(request: HttpRequest, signal: AbortSignal): Promise<HttpResult>;
};

type ProductConfig = {
  readonly http: OperatorHttpClient;
  readonly product: MtnProductName;
  readonly credentials: MtnCredentials;
  readonly targetEnvironment: string;
  readonly timeoutMs: number;
  readonly tokens: TokenStore;
};

export function openMtnProduct(config: ProductConfig): MtnProduct {
  const { http, product, credentials, targetEnvironment, timeoutMs } = config;
  const tokens = createTokenCache(() => fetchToken(config), {
    store: config.tokens,
    leaseMs: leaseOf(timeoutMs),
  });

  function withToken({ headers, path, ...request }: HttpRequest, token: string): HttpRequest {
    return {
      ...request,
      path: `/${product}/v1_0${path}`,
      headers: {
        ...headers,
        Authorization: `Bearer ${token}`,
        'Ocp-Apim-Subscription-Key': credentials.subscriptionKey,
        'X-Target-Environment': targetEnvironment,
      },
    };
  }

  return {
    call: (request, signal) => sendWithToken(tokens, (token) => http.send(withToken(request, token), signal)),
  };
}

// The request has its own deadline and not a caller's, because several callers wait for this token.
async function fetchToken({ http, product, credentials, timeoutMs }: ProductConfig): Promise<FetchedToken> {
  const basic = Buffer.from(`${credentials.apiUser}:${credentials.apiKey}`).toString('base64');
  const request: HttpRequest = {
    method: 'POST',
    path: `/${product}/token/`,
    headers: { Authorization: `Basic ${basic}`, 'Ocp-Apim-Subscription-Key': credentials.subscriptionKey },
  };
  const result = await withDeadline<HttpResult>(
    timeoutMs,
    (signal) => http.send(request, signal),
    () => ({ kind: 'no_response', reason: 'timed out', cause: 'no_answer' }),
  );
  return readTokenResponse(result);
}
