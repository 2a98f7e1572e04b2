// Sends one webhook attempt: signed, guarded, bounded in time and in what it reads back.
import { Agent, request, type Dispatcher } from 'undici';
import type { Attempt, AttemptResult } from '../domain/delivery.ts';
import type { DeliveryId, EndpointId, EventId } from '../domain/ids.ts';
import { open, type KeyRing } from '../domain/secret-box.ts';
import { signatureHeader } from '../domain/signature.ts';
import type { Log } from '../log.ts';
import { createAddressGuard } from './address-guard.ts';

export type CourierOptions = {
  readonly keyRing: KeyRing;
  readonly allowsLoopback: boolean;
  readonly connectTimeoutMs: number;
  /** The whole attempt, from the look-up of the name to the last byte read. */
  readonly attemptTimeoutMs: number;
  readonly log: Log;
};

export type Parcel = {
  readonly id: DeliveryId;
  readonly endpointId: EndpointId;
  readonly eventId: EventId;
  readonly url: string;
  /** The present one first; two while a rotation overlaps. */
  readonly secretsSealed: readonly [string, ...string[]];
  readonly body: string;
};

export type WebhookCourier = {
  /** Never throws for what the receiver, the network or a lost key does: that is a result, to be recorded like any. */
  send(parcel: Parcel, attemptNumber: number): Promise<Attempt>;
  close(): Promise<void>;
};

const RESPONSE_KEPT_BYTES = 16 * 1024;

export function createWebhookCourier(options: CourierOptions): WebhookCourier {
  const guard = createAddressGuard(options);
  const agent = new Agent({
    connect: { lookup: guard.lookup, timeout: options.connectTimeoutMs },
    pipelining: 1,
    headersTimeout: options.attemptTimeoutMs,
    bodyTimeout: options.attemptTimeoutMs,
  });

  return {
    async send(parcel, attemptNumber) {
      const startedAt = new Date();
      const startedMs = performance.now();
      const result = await attempt(parcel, attemptNumber, startedAt);
      return { startedAt, durationMs: Math.round(performance.now() - startedMs), result };
    },
    // Idle connections of strangers are no reason to wait.
    close: () => agent.destroy(),
  };

  async function attempt(parcel: Parcel, attemptNumber: number, at: Date): Promise<AttemptResult> {
    const refusal = guard.refuseUrl(parcel.url);
    if (refusal !== null) return { kind: 'no_answer', error: `not sent: ${refusal}` };
    const secrets = openSecrets(parcel);
    if (secrets === null) return { kind: 'no_answer', error: 'not sent: the signing secret cannot be opened' };
    const body = Buffer.from(parcel.body);
    try {
      const response = await request(parcel.url, {
        dispatcher: agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'malipo-signature': signatureHeader(body, secrets, Math.floor(at.getTime() / 1000)),
          'malipo-event-id': parcel.eventId,
          'malipo-delivery-id': parcel.id,
          'malipo-attempt': String(attemptNumber),
          'user-agent': 'Malipo-Webhooks/1',
        },
        body,
        signal: AbortSignal.timeout(options.attemptTimeoutMs),
      });
      return await readAnswer(response);
    } catch (error) {
      return { kind: 'no_answer', error: describe(error, options) };
    }
  }

  function openSecrets({ id, endpointId, secretsSealed }: Parcel): string[] | null {
    try {
      return secretsSealed.map((sealed) => open(sealed, endpointId, options.keyRing));
    } catch (error) {
      // No receiver can mend that: a key is gone from our configuration, or somebody altered the row.
      options.log.error({ error, deliveryId: id, endpointId }, 'a signing secret cannot be opened');
      return null;
    }
  }
}

async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<AttemptResult> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    kept.push(chunk);
    bytes += chunk.length;
    // Leaving the loop ends the connection: what is longer than we keep is not read.
    if (bytes >= RESPONSE_KEPT_BYTES) break;
  }
  const flat = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return {
    kind: 'answered',
    statusCode,
    headers: Object.fromEntries(flat) as Record<string, string>,
    body: Buffer.concat(kept).subarray(0, RESPONSE_KEPT_BYTES),
    retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
  };
}

/** `Retry-After` in milliseconds from now: seconds or an HTTP date; null when it is neither. */
export function parseRetryAfter(value: string | string[] | undefined, nowMs: number): number | null {
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  if (text === undefined || text === '') return null;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

function describe(error: unknown, { attemptTimeoutMs, connectTimeoutMs }: CourierOptions): string {
  if (!(error instanceof Error)) return 'the attempt failed';
  if (error.name === 'TimeoutError') return `no complete answer within ${attemptTimeoutMs} ms`;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `no connection within ${connectTimeoutMs} ms`;
    case 'ECONNREFUSED':
      return 'the connection was refused';
    case 'ENOTFOUND':
      return 'the host name was not found';
    case 'ADDRESS_REFUSED':
      return `not sent: ${error.message}`;
    default:
      return `the attempt failed: ${code === '' ? error.message : code}`.slice(0, 500);
  }
}
