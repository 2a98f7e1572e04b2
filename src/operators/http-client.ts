// The one way an adapter speaks HTTP to its operator: kept connections, hard limits, and answers instead of exceptions.
import { Pool } from 'undici';

export type HttpRequest = {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with a leading slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

type AnswerBody =
  { readonly kind: 'empty' } | { readonly kind: 'json'; readonly value: unknown } | { readonly kind: 'other' };

/** `no_answer` covers a connection that failed, a time-out, and an answer that was cut short or too large. */
export type HttpAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly body: AnswerBody }
  | { readonly kind: 'no_answer'; readonly reason: string };

export type OperatorHttpClient = {
  /** Never rejects. A request that is still waiting for a connection when `signal` aborts is not sent at all. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
};

type OperatorHttpClientConfig = {
  readonly baseUrl: string;
  readonly connections: number;
  readonly timeoutMs: number;
};

/** An operator's answers are below 2 KiB; more is not an answer and is not worth our memory. */
const MAX_ANSWER_BYTES = 64 * 1024;

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
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  let closing: Promise<void> | null = null;

  return {
    async send({ method, path, headers, body }, signal) {
      try {
        const answer = await pool.request({ method, path: pathPrefix + path, headers, body: body ?? null, signal });
        return { kind: 'answer', status: answer.statusCode, body: readBody(await answer.body.text()) };
      } catch (error) {
        return { kind: 'no_answer', reason: nameOf(error) };
      }
    },
    close() {
      closing ??= pool.close();
      return closing;
    },
  };
}

/**
 * Runs `act` with a signal that aborts after `timeoutMs`, and answers `onTimeout()` at that moment even if `act` is
 * still busy: the pool tells an aborted request so only when its turn comes.
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

function readBody(text: string): AnswerBody {
  if (text.trim() === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: JSON.parse(text) as unknown };
  } catch {
    return { kind: 'other' };
  }
}

// The code and never the message: messages of the network layer may carry headers, addresses or parts of a body.
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'connection failed';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return `connection failed: ${code}`;
}
