// Calls the service's HTTP API as a person's client: with a session cookie, in JSON, with a time limit.
import { z } from 'zod';
import { CliFailure, usage } from './failure.ts';

const CALL_LIMIT_MS = 30_000;

export class ApiRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  /** The wait requested by `Retry-After`; null without it. */
  readonly retryAfterMs: number | null;

  constructor(status: number, text: string, headers: Headers) {
    const parsed = errorSchema.safeParse(parseJson(text));
    super(parsed.success ? parsed.data.error.message : `the service answered ${status}`);
    this.name = 'ApiRefusal';
    this.status = status;
    this.code = parsed.success ? parsed.data.error.code : `http_${status}`;
    this.requestId = headers.get('malipo-request-id');
    const seconds = headers.get('retry-after') ?? '';
    this.retryAfterMs = /^[0-9]{1,5}$/.test(seconds) ? Number(seconds) * 1000 : null;
  }
}

const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export type Call = {
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
  readonly json?: unknown;
  readonly idempotencyKey?: string;
};

export type ApiResponse = { readonly json: unknown; readonly date: Date | null; readonly cookie: string | null };

export type Api = {
  readonly baseUrl: string;
  /** Throws `ApiRefusal` for a status other than 2xx, and a `CliFailure` for an invalid path or if nothing answers. */
  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, call?: Call): Promise<ApiResponse>;
};

export type ApiOptions = {
  readonly baseUrl: string;
  /** `name=value`; null before there is a session. */
  readonly cookie: string | null;
  /** The public address of the service. It requires this origin in every call that changes something. */
  readonly origin: string;
  readonly stop: AbortSignal;
  /** Called with each new session cookie, which replaces the previous one. */
  readonly onCookie?: (cookie: string) => void;
};

export function createApi(options: ApiOptions): Api {
  const { baseUrl, origin, stop } = options;
  let { cookie } = options;
  return {
    baseUrl,
    async call(method, path, { query = {}, json, idempotencyKey } = {}) {
      const url = new URL(path, `${baseUrl}/`);
      // An id of dots leads to another route: `deliveries/./replay` would replay every delivery instead of one.
      if (url.pathname !== path || /\/(\/|$)/.test(path)) throw usage('this is not an id');
      for (const [name, value] of Object.entries(query)) {
        if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
      }
      const headers = new Headers({ accept: 'application/json', origin, 'malipo-console': '1' });
      if (cookie !== null) headers.set('cookie', cookie);
      if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
      if (json !== undefined) headers.set('content-type', 'application/json');
      const { response, text } = await fetchText(url, stop, {
        method,
        headers,
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
      if (!response.ok) throw new ApiRefusal(response.status, text, response.headers);
      const fresh = cookieOf(response.headers);
      if (fresh !== null) {
        cookie = fresh;
        options.onCookie?.(fresh);
      }
      const date = Date.parse(response.headers.get('date') ?? '');
      return { json: text === '' ? null : parse(text, url), date: isNaN(date) ? null : new Date(date), cookie: fresh };
    },
  };
}

async function fetchText(
  url: URL,
  stop: AbortSignal,
  request: RequestInit,
): Promise<{ response: Response; text: string }> {
  const limit = AbortSignal.timeout(CALL_LIMIT_MS);
  try {
    // A redirect would send the session or the password to another server.
    const response = await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.any([stop, limit]) });
    return { response, text: await response.text() };
  } catch (error) {
    stop.throwIfAborted();
    throw new CliFailure('unreachable', `${url.origin} does not answer (${reasonOf(error)}). Is the service running?`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the reason is unknown';
  if (error.name === 'TimeoutError') return `nothing within ${CALL_LIMIT_MS / 1000} s`;
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
  return error.message;
}

/** Whether the service refuses this person: not logged in (401), or not allowed (403). */
export function isRefusal(error: unknown): error is ApiRefusal {
  return error instanceof ApiRefusal && (error.status === 401 || error.status === 403);
}

function cookieOf(headers: Headers): string | null {
  const [sent] = headers.getSetCookie();
  return /^((?:__Host-)?malipo_session=[^;]+)/.exec(sent ?? '')?.[1] ?? null;
}

function parse(text: string, url: URL): unknown {
  const json = parseJson(text);
  if (json === undefined)
    throw new CliFailure('failed', `${url.origin}${url.pathname} answered with something other than JSON.`);
  return json;
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
