// The telemetry of payments: one log line for each step, and one span if traces are exported.
import { currentActivity } from '../../../activities/current-activity.ts';
import type { OperatorExchange } from '../../../activities/exchanges.ts';
import type { AnsweredRequest } from '../../api/middleware/measure.ts';
import type { StateChange } from '../../domain/payments/state-change.ts';
import { activitySpanId, parseTraceparent, spanIdOf, traceIdOf } from '../../domain/trace.ts';
import type { MadeAttempt } from '../../webhooks/attempt.ts';
import type { Log } from '../../log.ts';
import type { Traces } from './traces.ts';

export type PaymentTelemetry = {
  readonly answered: (request: AnsweredRequest) => void;
  readonly stateChanged: (change: StateChange) => void;
  readonly exchanged: (exchange: OperatorExchange) => void;
  readonly attempted: (attempt: MadeAttempt) => void;
};

export type TelemetryOptions = {
  readonly log: Log;
  /** Null: no traces are exported, and none of their work is done. */
  readonly traces: Traces | null;
};

/** Each is called once its step is over. None throws or waits. */
export function createPaymentTelemetry(options: TelemetryOptions): PaymentTelemetry {
  return {
    answered: answered.bind(null, options),
    stateChanged: stateChanged.bind(null, options),
    exchanged: exchanged.bind(null, options),
    attempted: attempted.bind(null, options),
  };
}

/** Machines and parts of pages request these all day: they are logged in detail only on demand. */
const IN_DETAIL = new Set(['/healthz', '/readyz', '/console', '/docs']);
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

function answered({ log, traces }: TelemetryOptions, request: AnsweredRequest): void {
  const { requestId, method, route, status, seconds, merchantId, keyId, personId, paymentId, failure: error } = request;
  const durationMs = Math.round(seconds * 10_000) / 10;
  // Reads are many, so they have separate traces: a client that polls a payment for days would bury its other spans.
  const traceId = traceIdOf(paymentId && !READS.has(method) ? paymentId : requestId);
  const who = { merchantId, keyId, personId };
  const line = { requestId, method, route, status, durationMs, ...who, paymentId, traceId };
  if (error === undefined && IN_DETAIL.has(route)) {
    log.debug(line, 'request');
    return;
  }
  if (status >= 500) log.error({ ...line, error }, 'request');
  else log.info(line, 'request');
  traces?.record({
    name: `${method} ${route}`,
    kind: 'server',
    traceId,
    spanId: spanIdOf(requestId),
    parentSpanId: null,
    startedAtMs: Date.now() - seconds * 1000,
    endedAtMs: Date.now(),
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      ...namesOf({ requestId, paymentId, merchantId }),
    },
    isFailed: status >= 500,
    link: parseTraceparent(request.traceparent),
  });
}

function stateChanged({ log, traces }: TelemetryOptions, change: StateChange): void {
  const { kind, id: paymentId, merchantId, operator, from, to, failureCode, eventId, requestId } = change;
  const byRequestId = change.byRequestId === requestId ? null : change.byRequestId;
  const what = { kind, operator, from, to, failureCode, eventId };
  log.info({ paymentId, merchantId, ...what, requestId, byRequestId }, 'payment changed state');
  if (traces === null) return;
  const traceId = traceIdOf(paymentId);
  const times = { startedAtMs: change.at.getTime(), endedAtMs: Date.now() };
  const names = namesOf({ requestId, paymentId, merchantId });
  const accepted = spanIdOf(paymentId);
  if (from === null) {
    const parentSpanId = requestId === null ? null : spanIdOf(requestId);
    const span = { name: `accept ${kind}`, kind: 'internal', traceId, spanId: accepted, parentSpanId } as const;
    traces.record({ ...span, ...times, attributes: { ...names, 'malipo.operator': operator }, isFailed: false });
  }
  traces.record({
    name: `${kind} ${to}`,
    kind: 'internal',
    traceId,
    spanId: spanIdOf(eventId ?? `${paymentId} ${to}`),
    parentSpanId: actingSpanId() ?? accepted,
    ...times,
    attributes: {
      ...names,
      'malipo.operator': operator,
      'malipo.state.from': from,
      'malipo.state.to': to,
      'malipo.failure_code': failureCode,
      'malipo.event_id': eventId,
      'malipo.by_request_id': byRequestId,
    },
    isFailed: false,
  });
}

function exchanged({ log, traces }: TelemetryOptions, exchange: OperatorExchange): void {
  const { ref, operator, requestId, kind, outcome, failureCode, durationMs, startedAt } = exchange;
  const { id: paymentId, merchantId } = ref;
  const what = { operator, kind, result: outcome, failureCode, durationMs };
  log.info({ paymentId, merchantId, ...what, requestId }, 'operator exchange');
  if (traces === null) return;
  const startedAtMs = startedAt.getTime();
  traces.record({
    name: `${operator} ${kind}`,
    kind: 'client',
    traceId: traceIdOf(paymentId),
    spanId: spanIdOf(`${paymentId} ${kind} ${startedAtMs} ${actingSpanId()}`),
    parentSpanId: actingSpanId() ?? spanIdOf(paymentId),
    startedAtMs,
    endedAtMs: startedAtMs + durationMs,
    attributes: {
      ...namesOf({ requestId, paymentId, merchantId }),
      'malipo.operator': operator,
      'malipo.exchange.kind': kind,
      'malipo.exchange.result': outcome,
      'malipo.failure_code': failureCode,
    },
    isFailed: outcome === 'unknown',
  });
}

function attempted({ log, traces }: TelemetryOptions, sent: MadeAttempt): void {
  const { id: deliveryId, merchantId, endpointId, eventId, eventType, paymentId, requestId } = sent;
  const { attemptNumber, attempt, next } = sent;
  const { durationMs, startedAt, result } = attempt;
  const statusCode = result.kind === 'answered' ? result.statusCode : null;
  const what = { deliveryId, endpointId, eventId, eventType, attemptNumber, status: statusCode, state: next.state };
  log.info({ paymentId, merchantId, ...what, durationMs, requestId }, 'webhook attempt');
  if (traces === null || paymentId === null) return;
  traces.record({
    name: `webhook ${eventType}`,
    kind: 'client',
    traceId: traceIdOf(paymentId),
    spanId: spanIdOf(`${deliveryId} ${attemptNumber}`),
    parentSpanId: spanIdOf(eventId),
    startedAtMs: startedAt.getTime(),
    endedAtMs: startedAt.getTime() + durationMs,
    attributes: {
      ...namesOf({ requestId, paymentId, merchantId }),
      'malipo.event_id': eventId,
      'malipo.event_type': eventType,
      'malipo.delivery_id': deliveryId,
      'malipo.endpoint_id': endpointId,
      'malipo.attempt': attemptNumber,
      'http.response.status_code': statusCode,
      'malipo.delivery.state': next.state,
    },
    isFailed: next.state !== 'delivered',
  });
}

type Names = {
  readonly requestId: string | null;
  readonly paymentId: string | undefined;
  readonly merchantId: string | undefined;
};

function namesOf({ requestId, paymentId, merchantId }: Names) {
  return { 'malipo.request_id': requestId, 'malipo.payment_id': paymentId, 'malipo.merchant_id': merchantId };
}

/** The span of the payment's current activity; null if there is none. */
function actingSpanId(): string | null {
  const activity = currentActivity();
  return activity && activitySpanId(activity);
}
