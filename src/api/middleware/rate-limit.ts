// Limits the requests of each client, where no edge in front of us does.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../../domain/errors.ts';
import { clientNetwork } from '../client-address.ts';
import type { ApiDeps, ApiMiddleware } from '../context.ts';

const OPERATORS = '/operators/';

/** Operators call from few addresses for the payments of all merchants, so their calls have a limit of their own. */
export function rateLimit(limits: Pick<ApiDeps, 'rateLimitPerSecond' | 'operatorRateLimitPerSecond'>): ApiMiddleware {
  const callers = limitOf(limits.rateLimitPerSecond);
  const operators = limitOf(limits.operatorRateLimitPerSecond);
  return async (ctx, next) => {
    await (ctx.path.startsWith(OPERATORS) ? operators : callers)(ctx, next);
  };
}

function limitOf(requestsPerSecond: number): ApiMiddleware {
  if (requestsPerSecond === 0) return (_ctx, next) => next();
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
  return async (ctx, next) => {
    try {
      await limiter.consume(clientNetwork(ctx));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw new DomainError('rate_limited', 'Too many requests from this address. Wait, then try again.', {
        retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)),
      });
    }
    await next();
  };
}
