// Limits the requests of each client address, if no edge in front of the service does.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../../domain/errors.ts';
import { clientNetwork } from '../client-address.ts';
import type { ApiMiddleware } from '../context.ts';

const OPERATORS = '/operators/';
const HEALTH = '/healthz';

/** Requests per client address. 0: no limit, which `live` refuses. */
export type RateLimits = {
  readonly rateLimitPerSecond: number;
  readonly operatorRateLimitPerSecond: number;
};

/** Operators call from few addresses for all merchants, so their calls have a separate limit. Health has none. */
export function rateLimit(limits: RateLimits): ApiMiddleware {
  const callers = limitOf(limits.rateLimitPerSecond);
  const operators = limitOf(limits.operatorRateLimitPerSecond);
  return (ctx, next) => {
    if (ctx.path === HEALTH) return next();
    return (ctx.path.startsWith(OPERATORS) ? operators : callers)(ctx, next) as Promise<void>;
  };
}

export function tooManyRequests(message: string, waitMs: number): DomainError {
  return new DomainError('rate_limited', message, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}

/** Counts one request for this key. Throws `rate_limited` with the message if there were too many. */
export async function countWithin(limiter: RateLimiterMemory, key: string, message: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    throw tooManyRequests(message, refusal.msBeforeNext);
  }
}

function limitOf(requestsPerSecond: number): ApiMiddleware {
  if (requestsPerSecond === 0) return (_ctx, next) => next();
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
  return async (ctx, next) => {
    await countWithin(limiter, clientNetwork(ctx), 'Too many requests from this address. Wait, then try again.');
    await next();
  };
}
