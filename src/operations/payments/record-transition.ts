// Records a transition of a payment that no person decides: the state, posting, event and deliveries, all or nothing.
import { hasOpenDiscrepancy, insertDiscrepancy } from '../../db/payments/discrepancy.ts';
import { insertExchange, type NewExchange } from '../../db/payments/operator-exchange.ts';
import { getPayment } from '../../db/payments/payment.ts';
import { recordChange, type ChangeConditions } from '../../db/payments/payment-change.ts';
import { isSendRepeated, recordIssuedId } from '../../db/payments/payment-progress.ts';
import { wasBreakerOpen } from '../../db/work/breakers.ts';
import type { Tx } from '../../db/platform/database.ts';
import type { Clocks } from '../../domain/clocks.ts';
import { productOf } from '../../domain/payments/breaker.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { confirmsInput } from '../../domain/payments/collection-progress.ts';
import type { TransitionInput } from '../../domain/payments/lifecycle.ts';
import { OPERATORS } from '../../domain/payments/operator-catalogue.ts';
import { isRefusedSend, type StatusBasis } from '../../domain/payments/operator-status.ts';
import type { MoneyOut, Payment, PaymentKind, PaymentRef } from '../../domain/payments/payment.ts';
import { changePayment, type PaymentChange } from '../../domain/payments/payment-change.ts';
import {
  confirmsNeverAccepted,
  confirmsNeverSent,
  confirmsRefundNeverSent,
} from '../../domain/payments/recorded-send.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import { generationOf } from '../../domain/payments/send-generation.ts';
import type { RecordedBy } from '../../domain/work.ts';
import type { PaymentContext } from './payment-context.ts';

export type RecordTransition<Kind extends PaymentKind = PaymentKind> = {
  readonly ref: PaymentRef<Kind>;
  readonly transition: TransitionInput<Kind>;
  readonly at: Date;
  /** Kind and time of the verified status from which the input follows; null without a status. */
  readonly basis: StatusBasis | null;
  /** A collection as the caller read it a moment ago. A decision based on this copy counts only if it leads to a written change. */
  readonly before?: Collection | null;
  /** For a collection, the exchange from which the input follows. The same statement records it, or a separate one if nothing changes. */
  readonly exchange?: NewExchange | null;
  /** The issued id of an accepted payment. The same statement records it, or a separate one if nothing changes. */
  readonly issuedId?: string | null;
  /** The generation that the operator's answer is about: nothing is recorded if it is not the current one. Absent: there is no answer. */
  readonly generation?: number;
  /** The payment's workflow by default. */
  readonly recordedBy?: RecordedBy;
};

/** Each miss means that another process changed the payment, and a payment changes only a few times. */
const MAX_TRIES = 10;

export type RecordedTransition<Kind extends PaymentKind = PaymentKind> = {
  readonly payment: Payment<Kind>;
  /** False if a refund was paid after the operator returned the collection: money left twice. */
  readonly isPosted: boolean;
};

/**
 * Returns the payment after the transition. An input for which its state has no transition changes nothing, so repeated, late and
 * contradicting inputs are harmless. `expired`, `approval_expired`, `never_accepted` and `undecided` are recorded only if the row and our
 * own clock confirm that the deadline has passed; if a status decides, the deadline must also have passed at the time of its query.
 * `never_sent` is recorded only if the row and our clock confirm that nobody tried to send the payment in time. The refusal of a send is
 * recorded only if there was no other try. `undecided` waits until a person has settled an open discrepancy `paid_otherwise` or
 * `receipt_reused`.
 *
 * If a refund succeeds, the same transaction reverses its collection. A collection that the operator returned meanwhile stays reversed,
 * and a discrepancy records that the money left twice, unless the operator reports refunds as returns of their collections.
 *
 * Throws `collection_not_found`, `payout_not_found` or `reversal_not_found`, and `ReceiptReused` or `IssuedIdReused` for a receipt or an
 * id that another payment has.
 */
export async function recordTransition<Kind extends PaymentKind>(
  context: PaymentContext,
  input: RecordTransition<Kind>,
): Promise<RecordedTransition<Kind>> {
  const { db } = context;
  const { basis, generation = null, recordedBy = 'workflow' } = input;
  const ref = input.ref as PaymentRef;
  const requiresOneTry = isRefusedSend(basis);
  let given = input.before ?? null;
  let exchange = input.exchange ?? null;
  let issuedId = input.issuedId ?? null;
  let isPosted = true;
  const payment = await compareAndSet(ref.id, async () => {
    const isGiven = given !== null;
    const before: Payment = given ?? (await getPayment(db, ref));
    given = null;
    const change = (await isConfirmed(before, input, context))
      ? changePayment(before, await asRecorded(before, input.transition, context), input.at, context.clocks)
      : null;
    // The caller's copy may be outdated: if it leads to no change, the next try reads the current payment.
    if (change === null) return isGiven ? 'missed' : before;
    const written = await write(change, { requiresOneTry, basis, exchange, issuedId, generation, recordedBy }, context);
    if (written !== 'missed') {
      exchange = null;
      issuedId = null;
      isPosted = written === 'posted';
      return change.after;
    }
    return !isGiven && requiresOneTry && (await isSendRepeated(db, ref)) ? before : 'missed';
  });
  if (exchange !== null) await insertExchange(db, ref, exchange);
  if (issuedId !== null) await recordIssuedId(db, ref, issuedId);
  return { payment: payment as Payment<Kind>, isPosted };
}

/** The rows, not the caller, decide whether the operator was away while a `never_sent` payment waited to be sent. */
async function asRecorded(before: Payment, input: TransitionInput, { db }: PaymentContext): Promise<TransitionInput> {
  if (input.kind !== 'never_sent') return input;
  // Refused for our float, and not sent again in time: the operator took nothing.
  if (generationOf(before) > 1) return { kind: input.kind, isOperatorAway: true };
  const { operator, kind, updatedAt } = before;
  return {
    kind: input.kind,
    isOperatorAway: await wasBreakerOpen(db, { operator, product: productOf(kind), since: updatedAt }),
  };
}

async function isConfirmed(before: Payment, input: RecordTransition, context: PaymentContext): Promise<boolean> {
  if (input.generation !== undefined && input.generation !== generationOf(before)) return false;
  if (before.kind !== 'collection') return isTimely(before, input, context.clocks);
  const { transition, at, basis } = input;
  if (transition.kind === 'never_sent' && !confirmsNeverSent(sendOf(before), at)) return false;
  if (!confirmsInput(before, transition as TransitionInput<'collection'>, { basis, at }, context.clocks)) return false;
  if (transition.kind !== 'undecided') return true;
  return !(await hasOpenDiscrepancy(context.db, before.id, ['paid_otherwise', 'receipt_reused']));
}

// An accepted payment was sent, even if an older version of the service recorded no send.
function sendOf({ promptDeadlineAt, promptExpiresAt, sendBegunAt }: Collection) {
  return { sendDeadlineAt: promptDeadlineAt, sendBegunAt: sendBegunAt ?? promptExpiresAt };
}

function isTimely(payment: MoneyOut, { transition, at }: RecordTransition, clocks: Clocks): boolean {
  if (transition.kind === 'approval_expired') return at >= payment.expiresAt;
  if (transition.kind === 'never_accepted') return confirmsNeverAccepted(payment, transition.queriedAtMs, at, clocks);
  if (transition.kind !== 'never_sent') return true;
  return payment.kind === 'payout' ? confirmsNeverSent(payment, at) : confirmsRefundNeverSent(payment, at);
}

type Written = 'posted' | 'not_posted' | 'missed';

async function write(change: PaymentChange, conditions: ChangeConditions, context: PaymentContext): Promise<Written> {
  const { db, environment } = context;
  const { after } = change;
  if (after.kind !== 'reversal' || after.state !== 'succeeded') {
    return (await recordChange(db, change, environment, conditions)) ? 'posted' : 'missed';
  }
  return db.withTransaction(async (tx) => {
    const isPosted = (await reverseCollection(tx, after, context)) || isReturnOfCollection(after);
    if (!isPosted) await insertDiscrepancy(tx, after, { kind: 'refunded_twice', foundAt: after.updatedAt });
    if (await recordChange(tx, change, environment, conditions)) return isPosted ? 'posted' : 'not_posted';
    // Another process recorded an outcome meanwhile: a retry of the activity finds it.
    throw new Error(`${after.id} changed while its transition was being recorded`);
  });
}

/** Whether the operator reports the refund as the return of its collection, so that both are one and the same money. */
function isReturnOfCollection({ operator }: Reversal): boolean {
  return OPERATORS[operator].capabilities.refund?.statusOf === 'collection';
}

/** False if the operator already returned the collection. */
async function reverseCollection(tx: Tx, refund: Reversal, { environment, clocks }: PaymentContext): Promise<boolean> {
  const { merchantId, collectionId: id, updatedAt: at } = refund;
  const collection = await getPayment(tx, { kind: 'collection', merchantId, id });
  const change = changePayment(collection, { kind: 'returned' }, at, clocks);
  if (change === null) return false;
  if (await recordChange(tx, change, environment)) return true;
  throw new Error(`${id} changed while its reversal was being recorded`);
}

/** Runs `attempt`, which decides on a fresh read, until it does not miss. Throws after ten misses. */
async function compareAndSet(id: string, attempt: () => Promise<Payment | 'missed'>): Promise<Payment> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const result = await attempt();
    if (result !== 'missed') return result;
  }
  throw new Error(`${id} changed ${MAX_TRIES} times while one transition was being recorded`);
}
