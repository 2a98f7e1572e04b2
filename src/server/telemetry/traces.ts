// The recorded form of the steps of payments, if traces are exported.
import type { SpanContext } from '../../domain/trace.ts';

export type SpanKind = 'server' | 'client' | 'internal';

/** One finished step. Its attributes are ids, codes and names of ours: no phone, no amount, no address, no text of a merchant. */
export type Span = SpanContext & {
  readonly name: string;
  readonly kind: SpanKind;
  /** In the same trace; null: the span begins the trace. */
  readonly parentSpanId: string | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Null or undefined attributes are left out. */
  readonly attributes: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly isFailed: boolean;
  /** A span in a trace of another party. */
  readonly link?: SpanContext | null;
};

export type Traces = {
  /** Never waits and never throws. A span is left out if too many wait already. */
  record(span: Span): void;
  close(): Promise<void>;
};
