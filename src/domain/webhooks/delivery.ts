// Webhook deliveries: their states, the attempt schedule, and the consequences of an attempt's result.
import type { EventType } from '../event.ts';
import type { DeliveryId, EndpointId, EventId } from '../ids.ts';

/**
 * pending: the first attempt is owed; retrying: a further attempt is owed; delivered: the endpoint accepted it;
 * dead_lettered: the schedule ended; withheld: its endpoint is disabled, and only a replay sends it.
 */
export const DELIVERY_STATES = ['pending', 'retrying', 'delivered', 'dead_lettered', 'withheld'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** How an attempt ended. Only a 2xx response is a success. */
export type AttemptResult =
  | {
      readonly kind: 'answered';
      readonly statusCode: number;
      readonly headers: Readonly<Record<string, string>>;
      /** The first bytes of the response body; the sender limits how many. */
      readonly body: Buffer;
      /** The wait requested by `Retry-After`; null when it is absent or invalid. */
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: 'no_answer'; readonly error: string };

export type Attempt = {
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly result: AttemptResult;
};

export type NextStep =
  | { readonly state: 'delivered' }
  | { readonly state: 'retrying'; readonly delayMs: number }
  | { readonly state: 'dead_lettered'; readonly disableEndpoint: boolean };

/** A delivery as the people of the merchant see it. */
export type ListedDelivery = {
  readonly id: DeliveryId;
  readonly eventId: EventId;
  readonly eventType: EventType;
  readonly endpointId: EndpointId;
  readonly state: DeliveryState;
  readonly attemptCount: number;
  readonly replayCount: number;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type RecordedAttempt = {
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: Buffer | null;
};

/** How many attempts of one delivery are shown, newest first: far more than one schedule has. */
export const SHOWN_ATTEMPTS = 100;

export const RESPONSE_KEPT_BYTES = 16 * 1024;

/** Whether a response with this status has no body, whatever its headers say (RFC 9112, 6.3). */
export function hasNoBody(statusCode: number): boolean {
  return statusCode === 204 || statusCode === 304;
}

/** Whether the response body was longer than its stored part; null if unknown or without a response. */
export function isResponseTruncated({ responseHeaders, responseBody }: RecordedAttempt): boolean | null {
  if (responseBody === null) return null;
  // A response that breaks off is recorded as an error, so a body shorter than the limit is complete.
  if (responseBody.length < RESPONSE_KEPT_BYTES) return false;
  const length = responseHeaders?.['content-length'];
  return length !== undefined && /^[0-9]{1,15}$/.test(length) ? Number(length) > responseBody.length : null;
}

const JITTER = 0.1;

/**
 * The step after step `scheduleStep` of the schedule (1 is the first attempt, or the first since a replay). The wait is
 * the schedule's next step, ±10 % by `random` (0 to 1). `Retry-After` on 429 and 503 applies between once and twice
 * that step. 410 means: never send again.
 */
export function nextStep(
  scheduleStep: number,
  result: AttemptResult,
  scheduleMs: readonly number[],
  random: number,
): NextStep {
  if (isSuccess(result)) return { state: 'delivered' };
  const isGone = result.kind === 'answered' && result.statusCode === 410;
  const stepMs = scheduleMs[scheduleStep];
  if (isGone || stepMs === undefined) return { state: 'dead_lettered', disableEndpoint: isGone };
  const jitteredMs = Math.round(stepMs * (1 - JITTER + 2 * JITTER * random));
  return { state: 'retrying', delayMs: honouredDelayMs(jitteredMs, stepMs, result) };
}

export function isSuccess(result: AttemptResult): boolean {
  return result.kind === 'answered' && result.statusCode >= 200 && result.statusCode <= 299;
}

function honouredDelayMs(jitteredMs: number, stepMs: number, result: AttemptResult): number {
  if (result.kind !== 'answered' || result.retryAfterMs === null) return jitteredMs;
  if (result.statusCode !== 429 && result.statusCode !== 503) return jitteredMs;
  return Math.min(Math.max(result.retryAfterMs, stepMs), 2 * stepMs);
}
