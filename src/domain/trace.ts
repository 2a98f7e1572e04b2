// The ids of traces and their spans. Each is derived from its object: the id of a payment gives the id of its trace.
import { hash } from 'node:crypto';
import { isId } from './ids.ts';
import type { PaymentId } from './payments/payment.ts';

/** From W3C's Trace Context: 32 and 16 hexadecimal digits, not all of them zero. */
export type SpanContext = { readonly traceId: string; readonly spanId: string };

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/** The trace of a payment, or of a request without a payment: the same in every process, and evenly distributed. */
export function traceIdOf(id: string): string {
  return digest(`trace ${id}`, TRACE_DIGITS);
}

/** The span of a request, of the acceptance of a payment, of a workflow run or of an event, by its id. */
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

/** The context in a `traceparent` header; null if the header does not have the form of W3C's Trace Context. */
export function parseTraceparent(header: string): SpanContext | null {
  if (header.length > MAX_TRACEPARENT_LENGTH) return null;
  const [, version, traceId = '', spanId = '', rest] = TRACEPARENT.exec(header) ?? [];
  // Later versions may append fields; `ff` is no version.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? null : { traceId, spanId };
}

// A digest of only zeros would be no id. No input with such a digest is known.
function digest(text: string, digits: number): string {
  return hash('sha256', text).slice(0, digits);
}
