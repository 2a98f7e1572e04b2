// Reads checkouts: for a merchant's people, and for the page at which payers pay.
import { findNames } from '../../db/accounts/names.ts';
import type { Database, Queryable } from '../../db/platform/database.ts';
import type { Page } from '../../db/platform/page.ts';
import {
  countPaid,
  findCheckout,
  findCheckoutByCode,
  listCheckouts,
  type CheckoutFilter,
  type CountedCheckout,
} from '../../db/payments/checkout.ts';
import {
  findAttempt,
  listAttempts,
  listEarlierAttempts,
  type FoundAttempt,
  type ListedAttempt,
} from '../../db/payments/checkout-attempt.ts';
import { findCollection } from '../../db/payments/collection.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import { MOST_SHOWN_ATTEMPTS, type Attempt, type Checkout } from '../../domain/payments/checkout.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { notFound } from '../../domain/errors.ts';

export type ConsoleCheckout = CountedCheckout & { readonly createdBy: KnownPerson };

/** One page, newest first. `listCheckouts` in src/db explains why a page may have fewer items. */
export async function listConsoleCheckouts(
  db: Database,
  merchantId: MerchantId,
  filter: CheckoutFilter,
  request: { readonly limit: number; readonly at: Date },
): Promise<Page<ConsoleCheckout>> {
  const page = await listCheckouts(db, merchantId, filter, request);
  return { ...page, items: await withNames(db, merchantId, page.items) };
}

/** The checkout with its newest attempts. Throws `checkout_not_found`. */
export async function getConsoleCheckout(
  db: Database,
  merchantId: MerchantId,
  id: string,
): Promise<ConsoleCheckout & { readonly attempts: readonly ListedAttempt[] }> {
  return db.withTransaction(async (tx) => {
    const checkout = isId('chk', id) ? await findCheckout(tx, merchantId, id) : null;
    if (!checkout) throw notFound('checkout');
    const paidCount = (await countPaid(tx, [checkout.id])).get(checkout.id) ?? 0;
    const [named] = await withNames(tx, merchantId, [{ id: checkout.id, checkout, paidCount }]);
    if (!named) throw new Error('a checkout lost its names');
    return { ...named, attempts: await listAttempts(tx, merchantId, checkout.id, MOST_SHOWN_ATTEMPTS) };
  });
}

async function withNames(
  db: Queryable,
  merchantId: MerchantId,
  counted: readonly CountedCheckout[],
): Promise<ConsoleCheckout[]> {
  const people = counted.map(({ checkout }) => checkout.createdBy);
  const names = await findNames(db, merchantId, people, []);
  return counted.map((each) => ({ ...each, createdBy: names.person(each.checkout.createdBy) }));
}

export type CheckoutForPayer = {
  readonly checkout: Checkout;
  readonly merchantName: string;
  /** All attempts at a one-time checkout; none for a reusable checkout. */
  readonly earlier: readonly Attempt[];
};

/** Null: no checkout has this code. */
export async function findCheckoutForPayer(db: Queryable, code: string): Promise<CheckoutForPayer | null> {
  const found = await findCheckoutByCode(db, code);
  return found && { ...found, earlier: await listEarlierAttempts(db, found.checkout, null) };
}

export type AttemptForPayer = Omit<FoundAttempt, 'collectionId'> & { readonly collection: Collection };

/** The attempt with this code; null: this checkout has no such attempt. */
export async function findAttemptForPayer(
  db: Queryable,
  { id, merchantId }: Pick<Checkout, 'id' | 'merchantId'>,
  codeSha256: Buffer,
): Promise<AttemptForPayer | null> {
  const found = await findAttempt(db, id, codeSha256);
  const collection = found && (await findCollection(db, merchantId, found.collectionId));
  return found && collection && { collection, operatorReceipt: found.operatorReceipt, paidAt: found.paidAt };
}

const ONE_MOMENT = { statementTimeoutMs: 10_000, atOneMoment: true } as const;

/**
 * The attempt and its checkout as of one moment, so that an attempt that is over is not still live among the earlier attempts. Null: there
 * is no such checkout or no such attempt.
 */
export async function findAttemptAndCheckout(
  db: Database,
  code: string,
  codeSha256: Buffer,
): Promise<{ readonly found: CheckoutForPayer; readonly attempt: AttemptForPayer } | null> {
  return db.withLongReads(ONE_MOMENT, async (reads) => {
    const found = await findCheckoutForPayer(reads, code);
    const attempt = found && (await findAttemptForPayer(reads, found.checkout, codeSha256));
    return found && attempt && { found, attempt };
  });
}
