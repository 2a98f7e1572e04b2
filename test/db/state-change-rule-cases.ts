// What the database refuses of state changes, and of the position up to which they are folded.
import { insertRow, ruleCase, type RuleCase } from './rule-cases.ts';

const change = (columns: Readonly<Record<string, unknown>>) =>
  insertRow('state_changes', { to_state: 'given', ...columns });

export const STATE_CHANGE_RULE_CASES: readonly RuleCase[] = [
  ruleCase('a state change of an object of an unknown kind', 'state_changes_kind', ({ merchantId }) => [
    change({ merchant_id: merchantId, kind: 'gift', object_id: 'x' }),
  ]),
  ruleCase('a state change of a payment without its amount', 'state_changes_of_a_payment', ({ merchantId }) => [
    change({
      merchant_id: merchantId,
      kind: 'payout',
      object_id: 'x',
      operator: 'mtn-momo',
      payment_created_at: new Date(),
    }),
  ]),
  ruleCase('a second position of folding', 'fold_position_pkey', () => [
    insertRow('fold_position', { xid: '1', last_id: 1 }),
  ]),
  ruleCase('a position of folding that is not the only one', 'fold_position_only', () => [
    insertRow('fold_position', { is_only: false, xid: '1', last_id: 1 }),
  ]),
];
