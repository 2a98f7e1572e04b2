// Idempotency keys: their form, and the fingerprint that decides whether two requests are the same.
import { hash } from 'node:crypto';
import type { MerchantId } from '../domain/ids.ts';

export type KeyedRequest = {
  readonly merchantId: MerchantId;
  readonly key: string;
  readonly fingerprint: Buffer;
  readonly at: Date;
};

type Keyed = Pick<KeyedRequest, 'merchantId' | 'at'> & { readonly idempotencyKey: string };

export function keyedRequest(
  path: string,
  { merchantId, idempotencyKey: key, at }: Keyed,
  parameters: unknown,
): KeyedRequest {
  return { merchantId, key, fingerprint: requestFingerprint('POST', path, parameters), at };
}

/** 1 to 255 visible ASCII characters. */
export function isIdempotencyKey(text: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(text);
}

/** A digest of method, path and validated parameters, whatever their order, in JSON or in a form. */
export function requestFingerprint(method: string, path: string, parameters: unknown): Buffer {
  return hash('sha256', `${method} ${path}\n${canonicalJson(parameters)}`, 'buffer');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'bigint') return inner.toString();
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
