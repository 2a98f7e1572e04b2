// The results of a search: objects of one merchant, and the field by which each object was found.
import type { IdWith } from '../ids.ts';
import { PAYMENT_KINDS } from './payment.ts';

/** The most results that are shown. */
export const MOST_HITS = 20;

export const HIT_KINDS = [
  ...PAYMENT_KINDS,
  'api_request',
  'event',
  'delivery',
  'endpoint',
  'api_key',
  'checkout',
] as const;
export type HitKind = (typeof HIT_KINDS)[number];

/** The most certain first. */
export const FOUND_BY = [
  'id',
  'request_id',
  'operator_reference',
  'operator_receipt',
  'idempotency_key',
  'reference',
  'phone',
  'reference_prefix',
] as const;
export type FoundBy = (typeof FOUND_BY)[number];

export type SearchHit = {
  readonly kind: HitKind;
  readonly id: IdWith<'col' | 'pay' | 'rev' | 'evt' | 'dlv' | 'whe' | 'key' | 'chk' | 'req'>;
  readonly foundBy: FoundBy;
  /** The state of a payment, a delivery or an endpoint. A checkout's state does not follow from its row alone. */
  readonly state: string | null;
  readonly amountMinor: bigint | null;
  readonly currency: string | null;
  readonly reference: string | null;
  readonly phone: string | null;
  /** The name of a key, the method and route of a request, the type of an event or of a delivery's event, the address of an endpoint. */
  readonly title: string | null;
  readonly createdAt: Date;
};
