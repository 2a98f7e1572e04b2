// Wrong rows of discrepancies, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { insert, refusedChanges, ruleCase, twoRows, wrongInserts, type RuleCase } from '../rule-cases.ts';
import { assignedColumn } from './any-payment-rule-cases.ts';

const SETTLED = "settled_at = now(), settled_how = 'the payee sent it back'";
const FOUND_FIELDS: readonly string[] = [
  `merchant_id = '${newId('mer')}'`,
  `payment_id = '${newId('col')}'`,
  "kind = 'declined_after_paid'",
  'operator_receipt = NULL',
  "found_at = found_at - interval '1 day'",
];

const OTHERWISE = { kind: 'paid_otherwise', reported_amount: '12.5', reported_currency: 'UGX' };

const change = (assignments: string) => ({ text: `UPDATE discrepancies SET ${assignments}`, values: [] });

export const DISCREPANCY_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('discrepancies', [
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'discrepancies_merchant_id_fkey'],
    ['an unknown collection', () => ({ payment_id: newId('col') }), 'discrepancies_payment_id_fkey'],
    ['an unknown payout', () => ({ payment_id: newId('pay') }), 'discrepancies_payment_id_fkey'],
    ['an unknown reversal', () => ({ payment_id: newId('rev') }), 'discrepancies_payment_id_fkey'],
    ['an unknown kind', { kind: 'odd' }, 'discrepancies_kind_check'],
    ['an empty receipt', { operator_receipt: '' }, 'discrepancies_operator_receipt_check'],
    ['an amount that is no number', { ...OTHERWISE, reported_amount: '-1' }, 'discrepancies_reported_amount_check'],
    ['a currency that is no code', { ...OTHERWISE, reported_currency: 'ugx' }, 'discrepancies_reported_currency_check'],
    ['other money without its currency', { ...OTHERWISE, reported_currency: null }, 'discrepancies_reported'],
    ['a currency without other money', { ...OTHERWISE, reported_amount: null }, 'discrepancies_reported'],
    ['other money of another kind', { ...OTHERWISE, kind: 'paid_after_failed' }, 'discrepancies_reported'],
    ['an empty settlement', { settled_at: new Date(), settled_how: '' }, 'discrepancies_settled_how_check'],
    ['a settled row without a settlement', { settled_at: new Date() }, 'discrepancies_settled'],
  ]),
  ruleCase('a discrepancy without a payment', /null value in column "payment_id"/, (fixture) => [
    insert(fixture, 'discrepancies', { payment_id: null }),
  ]),
  twoRows('the same discrepancy of a payout twice', 'discrepancies_once_per_payment', 'discrepancies'),
  twoRows(
    'the same discrepancy of a collection twice',
    'discrepancies_once_per_payment',
    'discrepancies',
    ({ collections }) => ({ payment_id: collections.failed }),
  ),
  twoRows(
    'the same discrepancy of a reversal twice',
    'discrepancies_once_per_payment',
    'discrepancies',
    ({ reversals }) => ({ payment_id: reversals.failed }),
  ),
  ...FOUND_FIELDS.map((assignment): RuleCase =>
    ruleCase(
      `to change ${assignedColumn(assignment)} of a discrepancy`,
      /can only be settled, and only once/,
      (fixture) => [insert(fixture, 'discrepancies'), change(assignment)],
    ),
  ),
  ...["reported_amount = '13'", "reported_currency = 'KES'"].map((assignment): RuleCase =>
    ruleCase(
      `to change ${assignedColumn(assignment)} of a discrepancy`,
      /can only be settled, and only once/,
      (fixture) => [insert(fixture, 'discrepancies', OTHERWISE), change(assignment)],
    ),
  ),
  ruleCase('to settle a discrepancy twice', /can only be settled, and only once/, (fixture) => [
    insert(fixture, 'discrepancies'),
    change(SETTLED),
    change(SETTLED),
  ]),
  ...refusedChanges('discrepancies', ['DELETE', 'TRUNCATE']),
];
