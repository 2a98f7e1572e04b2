// Describes a waiting payment for a person who reads the Temporal UI.
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { CollectionSnapshot } from '../src/domain/payments/collection-progress.ts';
import type { PaymentKind } from '../src/domain/payments/payment.ts';
import type { PayoutSnapshot } from '../src/domain/payments/payout-progress.ts';
import type { ReversalSnapshot } from '../src/domain/payments/reversal-progress.ts';

/** The text while the operator's outcome is awaited. `polls` counts the status polls of this run in the current state. */
export function describeWait<Kind extends PaymentKind>(
  { kind }: { readonly kind: Kind },
  snapshot: PaymentSnapshot<Kind>,
  polls: number,
  waitMs: number,
): string {
  const what = snapshot.state === 'reconciling' ? OVERDUE[kind] : AWAITED[kind];
  const until = kind === 'collection' ? promptExpiry(snapshot as CollectionSnapshot) : '';
  const next = new Date(Date.now() + waitMs).toISOString();
  return `${what}${until}\n\nStatus polls of this run in this state: ${polls}. The next at ${next}, or at the operator’s callback.`;
}

const AWAITED: Readonly<Record<PaymentKind, string>> = {
  collection: 'Waiting for the **payer** to answer the prompt.',
  payout: 'Sent. Waiting for the **operator** to confirm the outcome.',
  reversal: 'Waiting for the **operator** to confirm the refund.',
};

const OVERDUE: Readonly<Record<PaymentKind, string>> = {
  collection: 'Waiting for the **operator**: the outcome is overdue and unknown.',
  payout: 'Waiting for the **operator**: the outcome is overdue and unknown. The money stays held.',
  reversal: 'Waiting for the **operator**: the outcome of the refund is overdue and unknown.',
};

function promptExpiry({ promptExpiresAtMs }: CollectionSnapshot): string {
  return promptExpiresAtMs === null ? '' : ` The prompt expires at ${new Date(promptExpiresAtMs).toISOString()}.`;
}

/** The text while a payout or refund waits for its approvals. */
export function describeQueue({
  approvals,
  approvalsRequired,
  expiresAtMs,
}: PayoutSnapshot | ReversalSnapshot): string {
  const until = new Date(expiresAtMs).toISOString();
  return (
    `Waiting for an **approver** other than its maker to release it: ${approvals} of ${approvalsRequired} approvals.\n\n` +
    `It expires at ${until}, and its money becomes available again then. Signals move nothing: the database decides.`
  );
}

const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A duration for a person: the largest unit that it is at least one of, rounded up, as `5 s`. */
export function inWords(ms: number): string {
  const unit = UNITS.find(([, unitMs]) => ms >= unitMs);
  return unit === undefined ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / unit[1])} ${unit[0]}`;
}
