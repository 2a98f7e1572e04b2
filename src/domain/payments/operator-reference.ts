// The reference under which the operator knows a payment: derived from the merchant's request, and never random.
import { createHash } from 'node:crypto';
import type { Environment } from '../event.ts';
import type { MerchantId } from '../ids.ts';
import type { PaymentKind } from './payment.ts';

/** The source of a reference. Two payments never have the same source. */
export type ReferenceSource = {
  readonly environment: Environment;
  readonly merchantId: MerchantId;
  readonly kind: PaymentKind;
  /** The idempotency key; for a refund, the reference of its collection. */
  readonly key: string;
  /** From 1: counts the payments of this kind with this key. A key may be used again after its response has expired. */
  readonly generation: number;
};

/** The bits of a UUID that say version 4 and variant 10. */
const VERSION = { byte: 6, keep: 0x0f, set: 0x40 };
const VARIANT = { byte: 8, keep: 0x3f, set: 0x80 };

/**
 * One source always gives one reference. If the database loses a payment and the merchant repeats the request, the reference is the
 * same: the operator says that it has the payment, and nothing is paid twice. The reference has the form of a UUID of version 4, which
 * operators demand. Its other 122 bits come from a SHA-256.
 */
export function operatorReferenceOf({ environment, merchantId, kind, key, generation }: ReferenceSource): string {
  return referenceFrom(['operator-reference', environment, merchantId, kind, key, generation]);
}

/**
 * The reference of a later generation of the payment with this first reference. It follows from the first reference alone: after a loss
 * the operator is asked about each generation in turn.
 */
export function laterReferenceOf(firstReference: string, generation: number): string {
  return referenceFrom(['later-reference', firstReference, generation]);
}

function referenceFrom(parts: readonly unknown[]): string {
  const source = JSON.stringify(parts);
  const bytes = createHash('sha256').update(source).digest().subarray(0, 16);
  for (const { byte, keep, set } of [VERSION, VARIANT]) bytes[byte] = ((bytes[byte] ?? 0) & keep) | set;
  return uuidOf(bytes.toString('hex'));
}

/** The UUID of these 32 hexadecimal digits. */
export function uuidOf(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
