// Limits the requests of each client, where no edge in front of us does, and of each API key.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../../domain/errors.ts';
import type { ApiKeyId } from '../../domain/ids.ts';
import { clientNetwork } from '../client-address.ts';
import type { ApiDeps, ApiMiddleware } from '../context.ts';

const OPERATORS = '/operators/';

/** Operators call from few addresses for the payments of all merchants, so their calls have a limit of their own. */
export function rateLimit(limits: Pick<ApiDeps, 'rateLimitPerSecond' | 'operatorRateLimitPerSecond'>): ApiMiddleware {
  const callers = limitOf(limits.rateLimitPerSecond);
  const operators = limitOf(limits.operatorRateLimitPerSecond);
  return (ctx, next) => (ctx.path.startsWith(OPERATORS) ? operators : callers)(ctx, next) as Promise<void>;
}

/** Limits the requests of each API key in this process, whatever their addresses. Throws `rate_limited`. */
export function createKeyLimit(requestsPerSecond: number): (key: ApiKeyId) => Promise<void> {
  const consume = consumerOf(requestsPerSecond, 'Too many requests with this key. Wait, then try again.');
  return (key) => consume(key);
}

/** The error that says when to come back. */
export function tooManyRequests(message: string, waitMs: number): DomainError {
  return new DomainError('rate_limited', message, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}

function limitOf(requestsPerSecond: number): ApiMiddleware {
  if (requestsPerSecond === 0) return (_ctx, next) => next();
  const consume = consumerOf(requestsPerSecond, 'Too many requests from this address. Wait, then try again.');
  return async (ctx, next) => {
    await consume(clientNetwork(ctx));
    await next();
  };
}

function consumerOf(requestsPerSecond: number, message: string): (who: string) => Promise<void> {
  if (requestsPerSecond === 0) return () => Promise.resolve();
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
  return async (who) => {
    try {
      await limiter.consume(who);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw tooManyRequests(message, refusal.msBeforeNext);
    }
  };
}
