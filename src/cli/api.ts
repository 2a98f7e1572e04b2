// The service's HTTP API as a person's client calls it: with a session's cookie, in JSON, bounded in time.
import { z } from 'zod';
import { CliFailure, usage } from './failure.ts';

const CALL_LIMIT_MS = 30_000;

/** What the service answered instead of what was asked. */
export class ApiRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  /** What `Retry-After` asks for; null without it. */
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

export type Answer = { readonly json: unknown; readonly date: Date | null; readonly cookie: string | null };

export type Api = {
  readonly baseUrl: string;
  /** Throws `ApiRefusal` for what is not 2xx, and a `CliFailure` for what is no path or when nothing answers. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, call?: Call): Promise<Answer>;
};

export type ApiOptions = {
  readonly baseUrl: string;
  /** `name=value`; null before there is a session. */
  readonly cookie: string | null;
  /** The address that the service calls its own, which it wants to hear from whoever changes something. */
  readonly origin: string;
  readonly stop: AbortSignal;
  /** A session's cookie that replaces the one before. */
  readonly onCookie?: (cookie: string) => void;
};

export function createApi(options: ApiOptions): Api {
  const { baseUrl, origin, stop } = options;
  let { cookie } = options;
  return {
    baseUrl,
    async call(method, path, { query = {}, json, idempotencyKey } = {}) {
      const url = new URL(path, `${baseUrl}/`);
      // An id of dots is a step to another route: `deliveries/./replay` would send everything again, and not one.
      if (url.pathname !== path || /\/(\/|$)/.test(path)) throw usage('what was given is no id');
      for (const [name, value] of Object.entries(query)) {
        if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
      }
      const headers = new Headers({ accept: 'application/json', origin, 'malipo-console': '1' });
      if (cookie !== null) headers.set('cookie', cookie);
      if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
      if (json !== undefined) headers.set('content-type', 'application/json');
      const { response, text } = await reach(url, stop, {
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

async function reach(url: URL, stop: AbortSignal, request: RequestInit): Promise<{ response: Response; text: string }> {
  const limit = AbortSignal.timeout(CALL_LIMIT_MS);
  try {
    // A redirect would take the session, or the password, elsewhere.
    const response = await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.any([stop, limit]) });
    return { response, text: await response.text() };
  } catch (error) {
    stop.throwIfAborted();
    throw new CliFailure('unreachable', `${url.origin} does not answer (${reasonOf(error)}). Is the service running?`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason is known';
  if (error.name === 'TimeoutError') return `nothing within ${CALL_LIMIT_MS / 1000} s`;
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
  return error.message;
}

function cookieOf(headers: Headers): string | null {
  const [sent] = headers.getSetCookie();
  return /^((?:__Host-)?malipo_session=[^;]+)/.exec(sent ?? '')?.[1] ?? null;
}

function parse(text: string, url: URL): unknown {
  const json = parseJson(text);
  if (json === undefined) throw new CliFailure('failed', `${url.origin}${url.pathname} answered with what is no JSON.`);
  return json;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
