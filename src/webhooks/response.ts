// Reads the part of a receiver's response that is stored: the start of the body, the headers and `Retry-After`.
import type { Dispatcher } from 'undici';
import { hasNoBody, RESPONSE_KEPT_BYTES, type AttemptResult } from '../domain/webhooks/delivery.ts';

/** The head of a response arrived, but not its whole body. The cause says why. */
export class IncompleteResponseError extends Error {
  readonly statusCode: number;
  readonly bodyBytes: number;

  constructor(statusCode: number, bodyBytes: number, cause: unknown) {
    super('the response is not complete', { cause });
    this.statusCode = statusCode;
    this.bodyBytes = bodyBytes;
  }
}

const STORED_HEADERS = 100;

/**
 * Reads to the end of the response or of its stored part, whichever comes first; the body's bytes are stored as
 * received. Throws IncompleteResponseError if neither is reached: a status alone does not count as a response.
 */
export async function readResponse({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<AttemptResult> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Leaving the loop closes the connection: bytes beyond the stored part are not read.
      if (bytes >= RESPONSE_KEPT_BYTES) break;
    }
  } catch (error) {
    if (!hasNoBody(statusCode)) throw new IncompleteResponseError(statusCode, bytes, error);
  }
  return {
    kind: 'answered',
    statusCode,
    headers: storedHeaders(headers),
    body: Buffer.concat(chunks).subarray(0, RESPONSE_KEPT_BYTES),
    retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
  };
}

/** The first headers; their total size was already limited when they were read. */
function storedHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const stored = Object.entries(headers).slice(0, STORED_HEADERS);
  return Object.fromEntries(
    stored.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

/** `Retry-After` in milliseconds from now, from seconds or an HTTP date; null if it is neither. */
export function parseRetryAfter(value: string | string[] | undefined, nowMs: number): number | null {
  const text = (Array.isArray(value) ? value[0] : value)?.trim() ?? '';
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  // All three forms of an HTTP date begin with the day of the week. `Date.parse` alone accepts almost any text as a date.
  const atMs = /^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?\b/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
