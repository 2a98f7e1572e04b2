// Limits requests per client address, where no edge in front of us does.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../../domain/errors.ts';
import type { ApiMiddleware } from '../context.ts';

export function rateLimit(requestsPerSecond: number): ApiMiddleware {
  if (requestsPerSecond === 0) return (_ctx, next) => next();
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
  return async (ctx, next) => {
    try {
      await limiter.consume(ctx.ip);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw new DomainError('rate_limited', 'Too many requests from this address. Wait, then try again.', {
        retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)),
      });
    }
    await next();
  };
}
