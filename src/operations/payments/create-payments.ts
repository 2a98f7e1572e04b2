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
import {
  endQueuedPayout,
  endQueuedReversal,
  type EndQueuedPayout,
  type EndQueuedReversal,
} from './end-queued-payment.ts';
import type { PaymentContext } from './payment-context.ts';
import { recordCollectionTransition, type RecordCollectionTransition } from './record-collection-transition.ts';
import { recordPayoutTransition, type RecordPayoutTransition } from './record-payout-transition.ts';
import { recordReversalTransition, type RecordReversalTransition } from './record-reversal-transition.ts';
import {
  releasePayout,
  releasePayouts,
  releaseReversal,
  type ReleasePayout,
  type ReleasePayouts,
  type ReleaseReversal,
} from './release-payment.ts';

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
    endQueuedPayout: (input: EndQueuedPayout) => endQueuedPayout(context, input),
    endQueuedReversal: (input: EndQueuedReversal) => endQueuedReversal(context, input),
    checkEntries: (input: CheckEntries) => checkEntriesOf(context.db, input),
    releaseReversal: (input: ReleaseReversal) => releaseReversal(context, input),
    releasePayout: (input: ReleasePayout) => releasePayout(context, input),
    releasePayouts: (input: ReleasePayouts) => releasePayouts(context, input),
    recordCollectionTransition: (input: RecordCollectionTransition) => recordCollectionTransition(context, input),
    recordPayoutTransition: (input: RecordPayoutTransition) => recordPayoutTransition(context, input),
    recordReversalTransition: (input: RecordReversalTransition) => recordReversalTransition(context, input),
  };
}
