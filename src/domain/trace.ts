// The ids of traces and their spans, each derived from what it is about: whoever knows the payment knows its trace.
import { hash } from 'node:crypto';
import { isId } from './ids.ts';
import type { PaymentId } from './payments/payment.ts';

/** Of W3C's Trace Context: 32 and 16 hexadecimal digits, not all of them zero. */
export type SpanContext = { readonly traceId: string; readonly spanId: string };

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/** The trace of a payment, or of a request that is about none: the same in every process, and even over its values. */
export function traceIdOf(id: string): string {
  return digest(`trace ${id}`, TRACE_DIGITS);
}

/** The span of a request, of the acceptance of a payment, of a workflow's run, of an event, by their ids. */
export function spanIdOf(id: string): string {
  return digest(`span ${id}`, SPAN_DIGITS);
}

/** The span of one try of an activity. */
export function activitySpanId(activity: {
  readonly runId: string;
  readonly activityId: string;
  readonly attempt: number;
}): string {
  return spanIdOf(`${activity.runId} ${activity.activityId} ${activity.attempt}`);
}

export function isPaymentId(id: unknown): id is PaymentId {
  return typeof id === 'string' && (isId('col', id) || isId('pay', id) || isId('rev', id));
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const MAX_TRACEPARENT_LENGTH = 200;

/** What a `traceparent` header names; null when it has not the form that W3C's Trace Context gives it. */
export function parseTraceparent(header: string): SpanContext | null {
  if (header.length > MAX_TRACEPARENT_LENGTH) return null;
  const [, version, traceId = '', spanId = '', rest] = TRACEPARENT.exec(header) ?? [];
  // Later versions may add to the end; `ff` is none.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? null : { traceId, spanId };
}

// A digest of nothing but zeros would be no id. No input is known that has one.
function digest(text: string, digits: number): string {
  return hash('sha256', text).slice(0, digits);
}
