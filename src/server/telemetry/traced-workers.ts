// The spans of workflows and activities, created by the workers.
import type { ActivityExecuteInput, InjectedSinks, WorkerInterceptors } from '@temporalio/worker';
import { currentActivity } from '../../../activities/current-activity.ts';
import { activitySpanId, isPaymentId, spanIdOf, traceIdOf } from '../../domain/trace.ts';
import type { TraceSinks } from '../../../workflows/contract.ts';
import type { Traces } from './traces.ts';

/** Records each run of a payment's workflow at its end. Has no effect without traces: workflows report either way. */
export function traceSinks(traces: Traces | null): InjectedSinks<TraceSinks> {
  return {
    traces: {
      runEnded: {
        fn: ({ runId, runStartTime, workflowType }, paymentId, isFailed) => {
          traces?.record({
            name: workflowType,
            kind: 'internal',
            traceId: traceIdOf(paymentId),
            spanId: spanIdOf(runId),
            parentSpanId: spanIdOf(paymentId),
            startedAtMs: runStartTime.getTime(),
            endedAtMs: Date.now(),
            attributes: { 'malipo.payment_id': paymentId, 'temporal.run_id': runId },
            isFailed,
          });
        },
        callDuringReplay: false,
      },
    },
  };
}

/** Adds an interceptor that records each try of a payment's activity; without traces nothing is added. */
export function withTracedActivities(
  traces: Traces | null,
  given: WorkerInterceptors | undefined,
): WorkerInterceptors | undefined {
  if (traces === null) return given;
  const tracing = () => ({
    inbound: {
      execute: async (input: ActivityExecuteInput, next: (input: ActivityExecuteInput) => Promise<unknown>) => {
        const startedAtMs = Date.now();
        let isFailed = true;
        try {
          const result = await next(input);
          isFailed = false;
          return result;
        } finally {
          recordTry(traces, input, { startedAtMs, isFailed });
        }
      },
    },
  });
  return { ...given, activity: [...(given?.activity ?? []), tracing] };
}

function recordTry(
  traces: Traces,
  { args }: ActivityExecuteInput,
  { startedAtMs, isFailed }: { readonly startedAtMs: number; readonly isFailed: boolean },
): void {
  const activity = currentActivity();
  const paymentId = paymentOf(args[0]);
  if (activity === null || paymentId === null) return;
  traces.record({
    name: activity.activityType,
    kind: 'internal',
    traceId: traceIdOf(paymentId),
    spanId: activitySpanId(activity),
    parentSpanId: spanIdOf(activity.runId),
    startedAtMs,
    endedAtMs: Date.now(),
    attributes: { 'malipo.payment_id': paymentId, 'malipo.attempt': activity.attempt },
    isFailed,
  });
}

/** Activities of payments are called with the payment's reference, by itself or as `ref`. */
function paymentOf(input: unknown): string | null {
  const { id, ref } = (input ?? {}) as { readonly id?: unknown; readonly ref?: { readonly id?: unknown } };
  return [id, ref?.id].find(isPaymentId) ?? null;
}
