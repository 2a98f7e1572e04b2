// Refuses a money-moving call without a usable Idempotency-Key before anything of it is read.
import { DomainError } from '../../domain/errors.ts';
import { isIdempotencyKey } from '../../security/request-fingerprint.ts';
import type { ApiMiddleware } from '../context.ts';

export function requireIdempotencyKey(): ApiMiddleware {
  return async (ctx, next) => {
    const key = ctx.get('Idempotency-Key');
    if (key === '') {
      throw new DomainError(
        'idempotency_key_missing',
        'Send an Idempotency-Key header, a new one for each payment and the same one for each retry of it.',
      );
    }
    if (!isIdempotencyKey(key)) {
      throw new DomainError('idempotency_key_invalid', 'An Idempotency-Key is 1 to 255 visible ASCII characters.');
    }
    ctx.state.idempotencyKey = key;
    await next();
  };
}
