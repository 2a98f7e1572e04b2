// A violation of a rule, and the input of the rules.
import type { Endpoint, Interference, OperatorPayment, ProcessEnd, Received, Request } from './evidence.ts';
import type { OpenWorkflow } from './open-workflows.ts';
import type { Records } from './records.ts';

/** The rules by name. Each file of rules explains its own. */
export type RuleName =
  | 'accepted_request_lost'
  | 'request_recorded_twice'
  | 'row_without_request'
  | 'row_differs_from_request'
  | 'replay_differs'
  | 'key_reused'
  | 'decision_lost'
  | 'decision_ignored'
  | 'state_contradicts_operator'
  | 'reason_contradicts_operator'
  | 'never_sent'
  | 'operator_payment_unknown'
  | 'operator_payment_differs'
  | 'sent_twice'
  | 'sent_without_release'
  | 'discrepancy'
  | 'transfers_wrong'
  | 'balance_differs_from_entries'
  | 'balance_differs_from_operator'
  | 'event_missing'
  | 'event_wrong'
  | 'event_surplus'
  | 'delivery_missing'
  | 'delivery_unfinished'
  | 'webhook_not_received'
  | 'webhook_wrong'
  | 'payment_stuck'
  | 'workflow_without_payment'
  | 'workflow_failing'
  | 'audit_missing'
  | 'audit_surplus'
  | 'process_ended';

export type Violation = {
  readonly rule: RuleName;
  readonly id: string;
  readonly text: string;
};

export type Case = {
  readonly records: Records;
  readonly requests: readonly Request[];
  readonly operator: ReadonlyMap<string, OperatorPayment>;
  readonly received: readonly Received[];
  readonly workflows: readonly OpenWorkflow[];
  readonly endpoints: readonly Endpoint[];
  readonly processEnds: readonly ProcessEnd[];
  readonly interference: Interference;
};

export type Rules = (evidence: Case) => Violation[];

/** All items by the key that `keyOf` gives each. */
export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
