// Cancels a checkout: it takes no other attempt.
import { recordAct } from '../../db/accounts/audit.ts';
import { cancelCheckout as cancelRow, countPaid, findCheckoutLocked } from '../../db/payments/checkout.ts';
import type { Database } from '../../db/platform/database.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { DomainError, notFound } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { checkoutState } from '../../domain/payments/checkout.ts';

export type CancelCheckout = { readonly by: ActedBy; readonly id: string; readonly at: Date };

/**
 * An attempt that is live goes on: its prompt is on the payer's phone. Of a checkout that is cancelled already nothing changes. Throws
 * `checkout_not_found`, and `state_conflict` for one that is over in another way.
 */
export async function cancelCheckout(db: Database, { by, id, at }: CancelCheckout): Promise<void> {
  const { merchantId } = by.person;
  await db.withTransaction(async (tx) => {
    const checkout = isId('chk', id) ? await findCheckoutLocked(tx, merchantId, id) : null;
    if (!checkout) throw notFound('checkout');
    const wasPaid = (await countPaid(tx, [checkout.id])).get(checkout.id) !== 0;
    const state = checkoutState(checkout, wasPaid, at);
    if (state === 'cancelled') return;
    if (state !== 'open') throw new DomainError('state_conflict', `This checkout is already ${state}.`);
    await cancelRow(tx, checkout.id, at);
    await recordAct(tx, by, { action: 'checkout.cancelled', subjectId: checkout.id, at });
  });
}
