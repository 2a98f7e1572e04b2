// Records the state of a payment whose operator cannot be queried now.
import { paymentClocks, type Clocks } from '../src/domain/clocks.ts';
import { LIFECYCLES, type PaymentSnapshot, type TransitionInput } from '../src/domain/payments/lifecycle.ts';
import type { QueriedStatus } from '../src/domain/payments/operator-status.ts';
import { generationOf } from '../src/domain/payments/send-generation.ts';
import type { PaymentKind, PaymentRef } from '../src/domain/payments/payment.ts';
import type { LoadedPayment, PaymentKinds } from './payment-kinds.ts';

/**
 * At most one transaction: the payment becomes `reconciling` if an answer without a status would make it so. Nothing else follows, and
 * nothing counts as evidence, because nobody queried the operator. Repeating it changes nothing.
 */
export async function recordUnasked(
  ref: PaymentRef,
  payment: LoadedPayment,
  { kinds, clocks }: { readonly kinds: PaymentKinds; readonly clocks: Clocks },
): Promise<PaymentSnapshot> {
  const queried = { status: { kind: 'unknown' }, queriedAtMs: Date.now() } as const;
  const next = nextOf(ref.kind, payment.snapshot, queried, clocks);
  if (next?.kind !== 'outcome_unknown') return payment.snapshot;
  const transition = { kind: 'outcome_unknown' } as const;
  const generation = generationOf(payment.row);
  return kinds.record(ref, transition, { at: new Date(), basis: null, exchange: null, row: null, generation });
}

function nextOf<Kind extends PaymentKind>(
  kind: Kind,
  snapshot: PaymentSnapshot<Kind>,
  queried: QueriedStatus,
  clocks: Clocks,
): TransitionInput<Kind> | null {
  return LIFECYCLES[kind].next(snapshot, queried, paymentClocks(clocks));
}
