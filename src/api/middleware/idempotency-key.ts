// Refuses a request that moves money without a usable Idempotency-Key.
import { DomainError } from '../../domain/errors.ts';
import { isIdempotencyKey } from '../../security/request-fingerprint.ts';

/** Throws `idempotency_key_missing` or `idempotency_key_invalid`. */
export function readIdempotencyKey(ctx: { get(header: string): string }): string {
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
  return key;
}
