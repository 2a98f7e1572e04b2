// Refused rows of state changes, of their folded position, and of the figures and totals of payments.
import { newId } from '../../src/domain/ids.ts';
import { insertRow, ruleCase, type RuleCase, type RuleFixture, type Sql } from './rule-cases.ts';

type Columns = Readonly<Record<string, unknown>>;

const change = (columns: Columns): Sql => insertRow('state_changes', { to_state: 'given', object_id: 'x', ...columns });

const figure = (columns: Columns = {}): Sql =>
  insertRow('payment_figures', {
    ...{ kind: 'collection', operator: 'mtn-momo', state: 'rule', entered: 1, exited: 0, seconds: 0 },
    ...columns,
  });

const total = ({ merchantId }: RuleFixture, columns: Columns = {}): Sql =>
  insertRow('payment_totals', {
    merchant_id: merchantId,
    quarter_at: new Date('2026-01-01T00:00:00Z'),
    kind: 'collection',
    operator: 'mtn-momo',
    state: 'succeeded',
    count: 1,
    amount_minor: 5000,
    ...columns,
  });

export const FIGURE_RULE_CASES: readonly RuleCase[] = [
  ruleCase('a state change of an object of an unknown kind', 'state_changes_kind', ({ merchantId }) => [
    change({ merchant_id: merchantId, kind: 'gift' }),
  ]),
  ruleCase('a state change of a payment without its amount', 'state_changes_of_a_payment', ({ merchantId }) => [
    change({ merchant_id: merchantId, kind: 'payout', operator: 'mtn-momo', payment_created_at: new Date() }),
  ]),
  ruleCase('a second position of folding', 'fold_position_pkey', () => [
    insertRow('fold_position', { xid: '1', last_id: 1 }),
  ]),
  ruleCase('a position of folding that is not the only one', 'fold_position_only', () => [
    insertRow('fold_position', { is_only: false, xid: '1', last_id: 1 }),
  ]),
  ruleCase('two figures of the same payments', 'payment_figures_key', () => [figure(), figure()]),
  ruleCase('two numbers of payments of the same duration', 'payment_figures_key', () => [
    figure({ at_most_seconds: 1 }),
    figure({ at_most_seconds: 1 }),
  ]),
  ruleCase('two totals of the same payments', 'payment_totals_pkey', (fixture) => [total(fixture), total(fixture)]),
  ruleCase('a total of an unknown kind', 'payment_totals_kind', (fixture) => [total(fixture, { kind: 'gift' })]),
  ruleCase('a total of an unknown merchant', 'payment_totals_merchant_id_fkey', (fixture) => [
    total(fixture, { merchant_id: newId('mer') }),
  ]),
];
