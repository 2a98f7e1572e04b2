// Describes a waiting payment for a person who reads the Temporal UI.
import { LIFECYCLES, type PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { PaymentKind } from '../src/domain/payments/payment.ts';
import type { PayoutSnapshot } from '../src/domain/payments/payout-progress.ts';
import type { ReversalSnapshot } from '../src/domain/payments/reversal-progress.ts';

/** The text while the operator's outcome is awaited. The console shows the time of the next query, which changes without an event. */
export function describeWait<Kind extends PaymentKind>(
  { kind }: { readonly kind: Kind },
  snapshot: PaymentSnapshot<Kind>,
): string {
  if ('sendAgainAtMs' in snapshot) {
    const at = new Date(snapshot.sendAgainAtMs).toISOString();
    return `The **operator** refused it, because our float there is too low. It is sent again at ${at}, until its send deadline.`;
  }
  const what = snapshot.state === 'reconciling' ? OVERDUE[kind] : AWAITED[kind];
  return `${what}${endOfWait(kind, snapshot)}\n\nThe operator is asked by schedule, at this time, and at its callback. The console shows when.`;
}

function endOfWait<Kind extends PaymentKind>(kind: Kind, snapshot: PaymentSnapshot<Kind>): string {
  const atMs = snapshot.state === 'reconciling' ? null : LIFECYCLES[kind].overdueAtMs(snapshot);
  if (atMs === null) return '';
  const at = new Date(atMs).toISOString();
  return kind === 'collection' ? ` The prompt expires at ${at}.` : ` The outcome is overdue from ${at}.`;
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

/** A duration for a person, as `5 s`: in the largest unit that fits at least once, rounded up. */
export function inWords(ms: number): string {
  const unit = UNITS.find(([, unitMs]) => ms >= unitMs);
  return unit === undefined ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / unit[1])} ${unit[0]}`;
}
