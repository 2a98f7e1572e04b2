// Reads what a receiver answers, as far as it is kept: a part of the body, the headers, and when to come again.
import type { Dispatcher } from 'undici';
import { RESPONSE_KEPT_BYTES, type AttemptResult } from '../domain/webhooks/delivery.ts';

/** The head of an answer came, and not all of what must follow. The cause says why. */
export class IncompleteAnswerError extends Error {
  readonly statusCode: number;
  readonly bodyBytes: number;

  constructor(statusCode: number, bodyBytes: number, cause: unknown) {
    super('the answer is not complete', { cause });
    this.statusCode = statusCode;
    this.bodyBytes = bodyBytes;
  }
}

const KEPT_HEADERS = 100;

/**
 * Reads to the end of the answer or of what is kept, whichever is first; the body is kept as its bytes came. Throws
 * IncompleteAnswerError when neither is reached: a status without its answer is not believed.
 */
export async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<AttemptResult> {
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      kept.push(chunk);
      bytes += chunk.length;
      // Leaving the loop ends the connection: what is longer than we keep is not read.
      if (bytes >= RESPONSE_KEPT_BYTES) break;
    }
  } catch (error) {
    throw new IncompleteAnswerError(statusCode, bytes, error);
  }
  return {
    kind: 'answered',
    statusCode,
    headers: keepHeaders(headers),
    body: Buffer.concat(kept).subarray(0, RESPONSE_KEPT_BYTES),
    retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
  };
}

/** The first of them: how many bytes they are in all was bounded when they were read. */
function keepHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const kept = Object.entries(headers).slice(0, KEPT_HEADERS);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

/** `Retry-After` in milliseconds from now: seconds or an HTTP date; null when it is neither. */
export function parseRetryAfter(value: string | string[] | undefined, nowMs: number): number | null {
  const text = (Array.isArray(value) ? value[0] : value)?.trim() ?? '';
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  // All three forms of an HTTP date begin with the day of the week; the engine reads a date into almost anything.
  const atMs = /^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?\b/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
