// Records a transition of a collection: its state, its posting, its event and the deliveries, all or nothing.
import { findCollection } from '../../db/payments/collection.ts';
import { recordCollectionChange } from '../../db/payments/collection-change.ts';
import { compareAndSet } from '../../db/payments/compare-and-set.ts';
import { hasOpenDiscrepancy } from '../../db/payments/discrepancy.ts';
import { insertExchange, type NewExchange } from '../../db/payments/operator-exchange.ts';
import { isSendRepeated } from '../../db/payments/payment-progress.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { changeCollection, type CollectionChange } from '../../domain/payments/collection-change.ts';
import { confirmsInput, type CollectionTransitionInput } from '../../domain/payments/collection-progress.ts';
import { isRefusedSend, type StatusBasis } from '../../domain/payments/operator-status.ts';
import { confirmsNeverSent } from '../../domain/payments/recorded-send.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';
import type { PaymentContext } from './payment-context.ts';

export type RecordCollectionTransition = {
  readonly ref: Omit<PaymentRef<'collection'>, 'kind'>;
  readonly transition: CollectionTransitionInput;
  readonly at: Date;
  /** Of the verified status from which the input follows; null without one. */
  readonly basis: StatusBasis | null;
  /** As the caller read it a moment ago. Only a change that is written counts of what is decided on it. */
  readonly before?: Collection | null;
  /** The exchange from which the input follows, to be recorded in the same statement, or by itself where nothing changes. */
  readonly exchange?: NewExchange | null;
};

/**
 * Returns the collection as it is afterwards. An input for which its state has no transition changes nothing, so
 * repeated, late and contradicting inputs are harmless. `expired`, `never_accepted` and `undecided` are recorded only if the row
 * and our own clock confirm that the status was queried after the deadline that it decides, and `never_sent` only if they
 * confirm that nobody tried to send it in time. The refusal of a send is recorded only while there was no other try. `undecided`
 * waits until a person settled what the operator says was paid otherwise, or with the receipt of another payment. Throws
 * `collection_not_found`, and `ReceiptReused` for a receipt that has paid another collection.
 */
export async function recordCollectionTransition(
  context: PaymentContext,
  input: RecordCollectionTransition,
): Promise<Collection> {
  const { db, environment } = context;
  const { ref, basis } = input;
  let exchange = input.exchange ?? null;
  let given = input.before ?? null;
  const collection = await compareAndSet(ref.id, async () => {
    const isGiven = given !== null;
    const before = given ?? (await findCollection(db, ref.merchantId, ref.id));
    given = null;
    if (before === null) throw new DomainError('collection_not_found', 'There is no collection with this id.');
    const change = await changeOf(before, input, context);
    // What it was a moment ago may lead to no change where it would now, and is not what the caller asks for.
    if (change === null) return isGiven ? 'missed' : before;
    const requiresOneTry = isRefusedSend(basis);
    if (await recordCollectionChange(db, change, environment, { requiresOneTry, basis, exchange })) {
      exchange = null;
      return change.after;
    }
    return !isGiven && requiresOneTry && (await isSendRepeated(db, { kind: 'collection', ...ref })) ? before : 'missed';
  });
  if (exchange !== null) await insertExchange(db, { kind: 'collection', ...ref }, exchange);
  return collection;
}

/** Null: nothing changes. */
async function changeOf(
  before: Collection,
  { transition, at, basis }: RecordCollectionTransition,
  { db, clocks }: PaymentContext,
): Promise<CollectionChange | null> {
  if (transition.kind === 'never_sent' && !confirmsNeverSent(sendOf(before), at)) return null;
  if (!confirmsInput(before, transition, { basis, at }, clocks)) return null;
  const isUndecided = transition.kind === 'undecided';
  if (isUndecided && (await hasOpenDiscrepancy(db, before.id, ['paid_otherwise', 'receipt_reused']))) return null;
  return changeCollection(before, transition, at, clocks);
}

// What the operator accepted was sent, also by an older version, which recorded no send.
function sendOf({ promptDeadlineAt, promptExpiresAt, sendBegunAt }: Collection) {
  return { sendDeadlineAt: promptDeadlineAt, sendBegunAt: sendBegunAt ?? promptExpiresAt };
}
