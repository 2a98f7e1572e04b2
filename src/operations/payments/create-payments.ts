// Binds the payment operations to their database, environment and clocks, once per process.
import { checkEntriesOf, type CheckEntries } from './check-ledger-changes.ts';
import { createCheckout, type CreateCheckout } from './create-checkout.ts';
import { createAcceptance, createCollection, type CreateCollection } from './create-collection.ts';
import {
  createPayout,
  createPayoutAcceptance,
  planPayout,
  type CreatePayout,
  type PlanPayout,
} from './create-payout.ts';
import { createReversal, type CreateReversal } from './create-reversal.ts';
import type { MoneyOutKind, PaymentKind } from '../../domain/payments/payment.ts';
import { endQueuedPayment, type EndQueuedPayment } from './end-queued-payment.ts';
import type { PaymentContext } from './payment-context.ts';
import { recordTransition, type RecordTransition } from './record-transition.ts';
import { releasePayment, releasePayouts, type ReleasePayment, type ReleasePayouts } from './release-payment.ts';

export type Payments = ReturnType<typeof createPayments>;

/** The commands that need environment or clocks. Each is one transaction, with the guarantees that its own file states. */
export function createPayments(context: PaymentContext) {
  return {
    createCheckout: (input: CreateCheckout) => createCheckout(context, input),
    acceptCollection: createAcceptance(context),
    createCollection: (input: CreateCollection) => createCollection(context, input),
    planPayout: (input: PlanPayout) => planPayout(context, input),
    acceptPayout: createPayoutAcceptance(context),
    createPayout: (input: CreatePayout) => createPayout(context, input),
    createReversal: (input: CreateReversal) => createReversal(context, input),
    endQueuedPayment: <Kind extends MoneyOutKind>(input: EndQueuedPayment<Kind>) => endQueuedPayment(context, input),
    checkEntries: (input: CheckEntries) => checkEntriesOf(context.db, input),
    releasePayment: <Kind extends MoneyOutKind>(input: ReleasePayment<Kind>) => releasePayment(context, input),
    releasePayouts: (input: ReleasePayouts) => releasePayouts(context, input),
    recordTransition: <Kind extends PaymentKind>(input: RecordTransition<Kind>) => recordTransition(context, input),
  };
}
