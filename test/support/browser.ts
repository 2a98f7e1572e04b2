// A browser on our own pages, as the API sees it: it keeps the session cookie.
import { call, type ApiResponse, type CallOptions } from './api.ts';

export type Browser = {
  /** The cookie that the server set last; empty when there is none. */
  cookie: string;
  readonly baseUrl: string;
  /** Makes a call as our own pages do, with the cookie. A cookie in the response replaces it. */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
};

/** A browser on our own pages, without a session. */
export function openBrowser(baseUrl: string): Browser {
  const browser: Browser = {
    cookie: '',
    baseUrl,
    async call(method, path, options = {}) {
      const headers = {
        ...(browser.cookie !== '' && { cookie: browser.cookie }),
        'malipo-console': '1',
        origin: baseUrl,
        ...options.headers,
      };
      const idempotencyKey = options.idempotencyKey ?? (path.startsWith('/v1/console') ? null : undefined);
      const response = await call(baseUrl, method, path, {
        ...options,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        headers,
      });
      const cookie = cookieOf(response);
      if (cookie !== null) browser.cookie = cookie.value === '' ? '' : `${cookie.name}=${cookie.value}`;
      return response;
    },
  };
  return browser;
}

/** The cookie that the response sets; null if it sets none. */
export function cookieOf(response: ApiResponse): { name: string; value: string; attributes: string[] } | null {
  const [cookie] = response.headers.getSetCookie();
  if (cookie === undefined) return null;
  const [pair = '', ...attributes] = cookie.split('; ');
  const [name = '', value = ''] = pair.split('=');
  return { name, value, attributes };
}
