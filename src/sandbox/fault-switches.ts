// Switches that make the whole operator slow, faulty or unreachable, to test its clients.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Middleware, Next } from 'koa';
import { z } from 'zod';

const MAX_LATENCY_MS = 120_000;

/** A missing switch is off. */
export const faultsSchema = z.strictObject({
  /** The delay before every response. */
  latencyMs: z.int().min(0).max(MAX_LATENCY_MS).default(0),
  /** The share of requests that get a 500 before any processing. */
  errorRate: z.number().min(0).max(1).default(0),
  /** Every connection is cut without a response. */
  down: z.boolean().default(false),
  /** Every request gets a 429. */
  throttled: z.boolean().default(false),
  /** Every request gets a 403, as if its address were not allowed. */
  accountRefused: z.boolean().default(false),
  /** The float covers no payout or refund. */
  floatLow: z.boolean().default(false),
});

type Faults = z.infer<typeof faultsSchema>;

export type FaultSwitches = {
  get(): Faults;
  set(faults: Faults): void;
  readonly middleware: Middleware;
  /** Ends all delays at once. */
  stop(): void;
};

/** Ends the connection without a response, as a network fault does. */
export function cutConnection(ctx: Context): void {
  ctx.respond = false;
  ctx.req.socket.destroy();
}

export function createFaultSwitches(): FaultSwitches {
  let faults = faultsSchema.parse({});
  const stopping = new AbortController();

  return {
    get: () => faults,
    set(next) {
      faults = next;
    },
    async middleware(ctx: Context, next: Next) {
      if (faults.latencyMs > 0) await sleep(faults.latencyMs, undefined, { signal: stopping.signal }).catch(() => null);
      if (faults.down || stopping.signal.aborted) {
        cutConnection(ctx);
        return;
      }
      if (faults.throttled || faults.accountRefused) {
        // The body has the format of the API gateway in front of the operator.
        const [status, message] = faults.throttled ? [429, 'Rate limit is exceeded.'] : [403, 'Forbidden'];
        ctx.status = status;
        ctx.body = { statusCode: status, message };
        return;
      }
      if (faults.errorRate > 0 && Math.random() < faults.errorRate) {
        ctx.status = 500;
        ctx.body = { code: 'INTERNAL_PROCESSING_ERROR', message: 'A fault switch is on.' };
        return;
      }
      await next();
    },
    stop() {
      stopping.abort();
    },
  };
}
