// What the database refuses of the totals of payments.
import { newId } from '../../../src/domain/ids.ts';
import { insertRow, ruleCase, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';

const total = ({ merchantId }: RuleFixture, columns: Readonly<Record<string, unknown>> = {}): Sql =>
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

export const TOTALS_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two totals of the same payments', 'payment_totals_pkey', (fixture) => [total(fixture), total(fixture)]),
  ruleCase('a total of an unknown kind', 'payment_totals_kind', (fixture) => [total(fixture, { kind: 'gift' })]),
  ruleCase('a total of an unknown merchant', 'payment_totals_merchant_id_fkey', (fixture) => [
    total(fixture, { merchant_id: newId('mer') }),
  ]),
];
