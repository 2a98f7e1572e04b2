// One product of MTN's API (collections or disbursements): its own credentials and token, and calls that carry them.
import { z } from 'zod';
import { withDeadline, type HttpResult, type OperatorHttpClient, type HttpRequest } from '../http-client.ts';
import { createTokenCache, type FetchedToken, type TokenStore } from '../token-cache.ts';

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

/** Longer than a request for a token takes, with what is done before and after it. */
const RENEWAL_MARGIN_MS = 2000;

const tokenBody = z.object({
  // It becomes a header: visible ASCII only, and limited to the length of a header.
  access_token: z.string().regex(/^[\x21-\x7e]{1,8192}$/),
  expires_in: z.coerce.number().positive(),
});

export function openMtnProduct(config: ProductConfig): MtnProduct {
  const { http, product, credentials, targetEnvironment, timeoutMs } = config;
  const tokens = createTokenCache(() => fetchToken(config), {
    store: config.tokens,
    leaseMs: timeoutMs + RENEWAL_MARGIN_MS,
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
    async call(request, signal) {
      const first = await tokens.get();
      if (first.kind === 'no_token') return { ...first, kind: 'no_response' };
      const result = await http.send(withToken(request, first.token), signal);
      if (result.kind === 'no_response' || result.status !== 401) return result;
      tokens.drop(first.token);
      const second = await tokens.get();
      if (second.kind === 'no_token') return { ...second, kind: 'no_response' };
      return http.send(withToken(request, second.token), signal);
    },
  };
}

// Has its own deadline and not a caller's, because several callers wait for this token.
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
  if (result.kind === 'no_response') return noToken(result.reason);
  if (result.status !== 200)
    return noToken(`http ${result.status}`, REFUSES_US.has(result.status) ? 'account' : 'busy');
  const parsed = tokenBody.safeParse(result.body.kind === 'json' ? result.body.value : null);
  if (!parsed.success) return noToken('answer not understood');
  return { kind: 'token', token: parsed.data.access_token, lifeSeconds: parsed.data.expires_in };
}

/** At the token's address nothing else can be meant than our credentials or the address that we call from. */
const REFUSES_US: ReadonlySet<number> = new Set([400, 401, 403]);

// Without a token no payment was sent, whatever became of the request for the token.
function noToken(reason: string, cause: 'account' | 'busy' = 'busy'): FetchedToken {
  return { kind: 'no_token', reason: `no token: ${reason}`, cause };
}
