// Shows a pending payment in the Temporal UI: in lists its state and who must act next, on the run's page why it waits.
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { PaymentKind } from '../src/domain/payments/payment.ts';
import { waitingParty } from '../src/domain/payments/waiting-party.ts';
import { PAYMENT_DETAILS, paymentSummary, SEARCH_ATTRIBUTES, type PaymentWorkflowInput } from './contract.ts';

/** Shows the state if the run shows another state. This costs one event, with the next command. */
export function showState({ kind }: { readonly kind: PaymentKind }, { state }: PaymentSnapshot): void {
  const shown = workflowInfo().typedSearchAttributes;
  const wanted = [
    { key: SEARCH_ATTRIBUTES.state, value: state },
    { key: SEARCH_ATTRIBUTES.waitsFor, value: waitingParty(kind, state) },
  ];
  const changed = wanted.filter(({ key, value }) => (shown.get(key) ?? null) !== value);
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/**
 * Shows why the payment waits. Temporal shows the summary and the details of a start on the first run only: a run in a new history adds
 * them itself.
 */
export function showDetails({ input }: { readonly input: PaymentWorkflowInput }, details: string): void {
  const isFirst = workflowInfo().continuedFromExecutionRunId === undefined;
  setCurrentDetails(isFirst ? details : `${details}\n\n${paymentSummary(input)}\n\n${PAYMENT_DETAILS}`);
}
