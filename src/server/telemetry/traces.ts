// What the steps of payments are recorded as, where somebody looks at traces.
import type { SpanContext } from '../../domain/trace.ts';

export type SpanKind = 'server' | 'client' | 'internal';

/** One finished step. Its attributes are ids, codes and names of ours: no phone, no amount, no address, no text of a merchant. */
export type Span = SpanContext & {
  readonly name: string;
  readonly kind: SpanKind;
  /** Of the same trace; null: the span begins it. */
  readonly parentSpanId: string | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** What is null or undefined is left out. */
  readonly attributes: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly isFailed: boolean;
  /** A span of somebody else's trace. */
  readonly link?: SpanContext | null;
};

export type Traces = {
  /** Never waits and never throws. A span is left out when too many wait already. */
  record(span: Span): void;
  close(): Promise<void>;
};
