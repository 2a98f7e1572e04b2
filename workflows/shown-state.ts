// What the Temporal UI shows of a payment while it is on its way: in lists its state and who must act next, on the run's page why it waits.
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import { waitsFor } from '../src/domain/payments/waits-for.ts';
import { PAYMENT_DETAILS, paymentSummary, SEARCH_ATTRIBUTES } from './contract.ts';
import type { Payment } from './payment.ts';

const SHOWN_SINCE_VERSION = 1;

/** Shows the state where the run shows another one. It costs one event, with the next command. */
export function showState({ kind, version }: Payment, { state }: PaymentSnapshot): void {
  if (version < SHOWN_SINCE_VERSION) return;
  const shown = workflowInfo().typedSearchAttributes;
  const wanted = [
    { key: SEARCH_ATTRIBUTES.state, value: state },
    { key: SEARCH_ATTRIBUTES.waitsFor, value: waitsFor(kind, state) },
  ];
  const changed = wanted.filter(({ key, value }) => (shown.get(key) ?? null) !== value);
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** What runs of before show of it: that an outcome is overdue, or money on its way. */
export function showOperatorAwaited({ version }: Payment): void {
  if (version >= SHOWN_SINCE_VERSION) return;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.waitsFor, value: 'operator' }]);
}

/**
 * Shows why the payment waits. Temporal shows the summary and the details of a start on the first run alone: one that goes on in a new
 * history says them itself.
 */
export function showDetails({ input }: Payment, details: string): void {
  const isFirst = workflowInfo().continuedFromExecutionRunId === undefined;
  setCurrentDetails(isFirst ? details : `${details}\n\n${paymentSummary(input)}\n\n${PAYMENT_DETAILS}`);
}
