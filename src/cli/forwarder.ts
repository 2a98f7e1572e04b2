// Forwards an event to a developer's own receiver as the service would: same method, headers and bytes, signed.
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../domain/ids.ts';
import { parseWebAddress } from '../domain/web-address.ts';
import { hasNoBody, RESPONSE_KEPT_BYTES } from '../domain/webhooks/delivery.ts';
import { signatureHeader } from '../security/webhook-signature.ts';
import { usage } from './failure.ts';

/** Limits the whole attempt, as in the service. */
const ATTEMPT_LIMIT_MS = 10_000;
/** The wait before each attempt, long enough for a receiver to restart. After the last, use `malipo resend`. */
const WAITS_MS: readonly number[] = [0, 1000, 5000];
const MAX_ATTEMPTS = WAITS_MS.length;
const SWITCHED = 'the receiver changed to another protocol (101)';

export type Attempt = {
  readonly number: number;
  readonly statusCode: number | null;
  /** Why there is no status code; null if there is one. */
  readonly error: string | null;
  readonly durationMs: number;
  readonly outcome: 'accepted' | 'retrying' | 'given_up';
};

export type Forwarder = {
  /** Attempts until one is accepted, and reports each attempt. False if none is accepted or `stop` comes first. */
  forward(
    event: { readonly id: string; readonly body: string },
    onAttempt: (attempt: Attempt) => void,
  ): Promise<boolean>;
};

export type ForwarderOptions = { readonly url: URL; readonly secret: string; readonly stop: AbortSignal };

/** The URL of `--forward-to`. Throws a usage failure. */
export function readForwardUrl(text: string): URL {
  const url = parseWebAddress(text);
  if (url) return url;
  throw usage(`--forward-to must be a URL such as http://127.0.0.1:3000/malipo, but is “${text}”`);
}

export function createForwarder({ url, secret, stop }: ForwarderOptions): Forwarder {
  return {
    async forward({ id, body }, onAttempt) {
      const bytes = Buffer.from(body);
      const deliveryId = newId('dlv');
      for (const [index, waitMs] of WAITS_MS.entries()) {
        const isAwake = await sleep(waitMs, true, { signal: stop }).catch(() => false);
        if (!isAwake) return false;
        const number = index + 1;
        const startedMs = performance.now();
        const headers = {
          'content-type': 'application/json',
          'malipo-signature': signatureHeader(bytes, [secret], Math.floor(Date.now() / 1000)),
          'malipo-event-id': id,
          'malipo-delivery-id': deliveryId,
          'malipo-attempt': String(number),
          'user-agent': 'Malipo-Webhooks/1',
          'content-length': String(bytes.length),
        };
        const response = await send(url, { headers, bytes, stop });
        if (stop.aborted && response.statusCode === null) return false;
        const isAccepted = response.statusCode !== null && response.statusCode >= 200 && response.statusCode <= 299;
        const outcome = isAccepted ? 'accepted' : number === MAX_ATTEMPTS ? 'given_up' : 'retrying';
        onAttempt({ number, ...response, durationMs: Math.round(performance.now() - startedMs), outcome });
        if (isAccepted) return true;
      }
      return false;
    },
  };
}

type Exchange = {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly stop: AbortSignal;
};

/**
 * Never rejects: resolves with the status of a response, or with the reason why none counts. Without `fetch`, which
 * adds headers and follows redirects.
 */
function send(url: URL, { headers, bytes, stop }: Exchange): Promise<Pick<Attempt, 'statusCode' | 'error'>> {
  const limit = AbortSignal.timeout(ATTEMPT_LIMIT_MS);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', headers, agent: false, signal: AbortSignal.any([stop, limit]) });
    let hasResponse = false;
    const fail = (error: string): void => {
      resolve({ statusCode: null, error: limit.aborted ? `no answer within ${ATTEMPT_LIMIT_MS / 1000} s` : error });
    };
    sent.on('error', (error) => {
      fail(describe(error));
    });
    // Without a listener, node:http closes the connection without an error or a response.
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      fail(SWITCHED);
    });
    sent.on('response', (response) => {
      hasResponse = true;
      const { statusCode = 0 } = response;
      if (statusCode === 101) fail(SWITCHED);
      if (hasNoBody(statusCode)) resolve({ statusCode, error: null });
      readToEnd(response, (isComplete) => {
        if (isComplete) resolve({ statusCode, error: null });
        else fail('the answer ended before it was complete');
      });
    });
    sent.on('close', () => {
      if (!hasResponse) fail('the connection was closed before an answer arrived');
    });
    sent.end(bytes);
  });
}

/** Reads to its end, or as much of it as the service reads. */
function readToEnd(response: IncomingMessage, onEnd: (isComplete: boolean) => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes < RESPONSE_KEPT_BYTES) return;
    onEnd(true);
    response.destroy();
  });
  // A failed response closes as well, and is reported below.
  response.on('error', () => undefined);
  response.on('close', () => {
    onEnd(response.complete);
  });
}

function describe(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'the host name was not found';
  return code === '' ? error.message : `${error.message === '' ? 'the attempt failed' : error.message} (${code})`;
}
