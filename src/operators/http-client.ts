// The HTTP client of all operator adapters: persistent connections, hard limits, and results instead of exceptions.
import { Pool } from 'undici';
import type { Trouble } from '../domain/payments/breaker.ts';
import { createConnector } from '../outbound/connector.ts';

export type HttpRequest = {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with a leading slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

type ResponseBody =
  { readonly kind: 'empty' } | { readonly kind: 'json'; readonly value: unknown } | { readonly kind: 'other' };

/**
 * `no_response`: the connection failed, the request timed out, or the response was incomplete or too large. Its cause is `busy` only if
 * nothing was sent, and absent only if the fault is ours. `isUnprocessed`: no byte of the request was sent.
 */
export type HttpResult =
  | { readonly kind: 'response'; readonly status: number; readonly body: ResponseBody }
  | {
      readonly kind: 'no_response';
      readonly reason: string;
      readonly cause?: Trouble;
      readonly isUnprocessed?: true;
    };

export type OperatorHttpClient = {
  /** Never rejects. A request that still waits for a connection when `signal` aborts is not sent. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResult>;
  close(): Promise<void>;
};

type OperatorHttpClientConfig = {
  readonly baseUrl: string;
  readonly connections: number;
  readonly timeoutMs: number;
};

/** Operators' responses are below 2 KiB; the limit protects our memory. */
const MAX_RESPONSE_BYTES = 64 * 1024;

export function createOperatorHttpClient({
  baseUrl,
  connections,
  timeoutMs,
}: OperatorHttpClientConfig): OperatorHttpClient {
  const base = new URL(baseUrl);
  const pathPrefix = base.pathname.replace(/\/+$/, '');
  const pool = new Pool(base.origin, {
    connections,
    pipelining: 1,
    connect: createConnector({ timeout: timeoutMs }),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  let closing: Promise<void> | null = null;

  return {
    async send({ method, path, headers, body }, signal) {
      try {
        const response = await pool.request({ method, path: pathPrefix + path, headers, body: body ?? null, signal });
        return { kind: 'response', status: response.statusCode, body: readBody(await response.body.text()) };
      } catch (error) {
        const code = codeOf(error);
        const reason = code === null ? 'connection failed' : `connection failed: ${code}`;
        return NOT_CONNECTED.has(code ?? '')
          ? { kind: 'no_response', reason, cause: 'busy', isUnprocessed: true }
          : { kind: 'no_response', reason, cause: 'no_answer' };
      }
    },
    close() {
      closing ??= pool.close();
      return closing;
    },
  };
}

/**
 * Runs `act` with a signal that aborts after `timeoutMs`, and resolves with `onTimeout()` at that moment, even if `act`
 * still runs: the pool rejects an aborted request only when its turn comes.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  act: (signal: AbortSignal) => Promise<T>,
  onTimeout: () => T,
): Promise<T> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      resolve(onTimeout());
      abort.abort();
    }, timeoutMs);
  });
  try {
    return await Promise.race([act(abort.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

function readBody(text: string): ResponseBody {
  if (text.trim() === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: JSON.parse(text) as unknown };
  } catch {
    return { kind: 'other' };
  }
}

/** Errors of a connection that was never made, so that nothing was sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

// Returns the code and never the message: messages of the network layer may contain headers, addresses or parts of a body.
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** The operator sends 429 and 503 before it processes a request. 502 and 504 come from a gateway that received no response. */
const TROUBLES: Readonly<Partial<Record<number, Trouble>>> = {
  429: 'busy',
  502: 'no_answer',
  503: 'busy',
  504: 'no_answer',
};

/** The trouble that a status alone proves, whatever the payment, as a part of an outcome; empty if the status proves none. */
export function causeOfStatus(status: number): { readonly cause?: Trouble } {
  const cause = TROUBLES[status];
  return cause === undefined ? {} : { cause };
}
