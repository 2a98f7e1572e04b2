// Checkouts for tests, with attempts that the service's own operations make.
import { insertCheckout } from '../../../src/db/payments/checkout.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import { idTimeMs, newId, type MerchantId, type UserId } from '../../../src/domain/ids.ts';
import { attemptKey, DEFAULT_CHECKOUT_LIFE_MS, type Checkout } from '../../../src/domain/payments/checkout.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import { createCollection } from '../../../src/operations/payments/create-collection.ts';
import type { AttemptLimit } from '../../../src/security/attempt-limit.ts';
import { hashCode, newCode } from '../../../src/security/token.ts';
import { contextOf } from '../rows.ts';

export async function makeCheckout(
  db: Database,
  merchantId: MerchantId,
  createdBy: UserId,
  fields: Partial<Checkout> = {},
): Promise<Checkout> {
  const id = newId('chk');
  const createdAt = new Date(idTimeMs(id));
  const checkout: Checkout = {
    ...{ id, code: newCode(), merchantId, createdBy, createdAt, amountMinor: 5000n, currency: 'UGX' },
    ...{ reference: 'INV-1', description: null, metadata: {}, use: 'one_time', returnUrl: null, cancelledAt: null },
    expiresAt: new Date(createdAt.getTime() + DEFAULT_CHECKOUT_LIFE_MS),
    ...fields,
  };
  await db.withTransaction((tx) => insertCheckout(tx, checkout));
  return checkout;
}

export type AttemptOptions = {
  readonly phone?: string;
  readonly code?: string;
  readonly at?: Date;
  readonly limits?: readonly AttemptLimit[];
  readonly secondAttemptWaitMs?: number;
};

/** What a payer's form leads to. Returns the new collection. */
export async function attempt(db: Database, checkout: Checkout, options: AttemptOptions = {}): Promise<Collection> {
  const { phone = '256772000100', code = newCode(), limits = [], at = new Date() } = options;
  const codeSha256 = hashCode(code)!;
  const { merchantId, amountMinor, reference, description, metadata } = checkout;
  const context = contextOf(db, { secondAttemptWaitMs: options.secondAttemptWaitMs ?? 0 });
  const created = await createCollection(context, {
    merchantId,
    merchantCurrency: checkout.currency,
    idempotencyKey: attemptKey(checkout.id, codeSha256),
    request: { phone, amountMinor, reference, description, metadata, currency: null },
    requestId: 'req_test',
    refusal: null,
    apiKeyId: null,
    attempt: { checkoutId: checkout.id, codeSha256, limits },
    at,
  });
  if (created.kind !== 'accepted') throw new Error('the attempt was made before');
  return created.payments[0];
}
