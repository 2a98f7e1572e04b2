// What workflow lists show of a payment: its state, and who must act next.
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import { waitsFor } from '../src/domain/payments/waits-for.ts';
import { SEARCH_ATTRIBUTES } from './contract.ts';
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
