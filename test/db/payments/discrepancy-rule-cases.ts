// Wrong rows of discrepancies, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { insert, keptForEver, wrongInserts, type RuleCase } from '../rule-cases.ts';

const SETTLED = "settled_at = now(), settlement = 'the payee sent it back'";
const WHAT_WAS_FOUND: readonly string[] = [
  `merchant_id = '${newId('mer')}'`,
  'payout_id = NULL',
  `collection_id = '${newId('col')}'`,
  `reversal_id = '${newId('rev')}'`,
  "kind = 'declined_after_paid'",
  'operator_receipt = NULL',
  "found_at = found_at - interval '1 day'",
];

const change = (assignments: string) => ({ text: `UPDATE discrepancies SET ${assignments}`, values: [] });

export const DISCREPANCY_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('discrepancies', [
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'discrepancies_merchant_id_fkey'],
    [
      'a collection nobody knows',
      () => ({ payout_id: null, collection_id: newId('col') }),
      'discrepancies_collection_id_fkey',
    ],
    ['a payout nobody knows', () => ({ payout_id: newId('pay') }), 'discrepancies_payout_id_fkey'],
    [
      'a reversal nobody knows',
      () => ({ payout_id: null, reversal_id: newId('rev') }),
      'discrepancies_reversal_id_fkey',
    ],
    ['a kind that there is not', { kind: 'odd' }, 'discrepancies_kind_check'],
    ['a receipt of no length', { operator_receipt: '' }, 'discrepancies_operator_receipt_check'],
    ['a settlement in no words', { settled_at: new Date(), settlement: '' }, 'discrepancies_settlement_check'],
    ['what speaks of nothing', { payout_id: null }, 'discrepancies_of_one'],
    ['what speaks of two things', ({ reversals }) => ({ reversal_id: reversals.failed }), 'discrepancies_of_one'],
    [
      'what speaks of a collection too',
      ({ collections }) => ({ collection_id: collections.failed }),
      'discrepancies_of_one',
    ],
    ['what is settled without words', { settled_at: new Date() }, 'discrepancies_settled'],
  ]),
  {
    what: 'one discrepancy twice of a payout',
    breaks: (fixture) => [insert(fixture, 'discrepancies'), insert(fixture, 'discrepancies')],
    by: { constraint: 'discrepancies_once_per_payout' },
  },
  {
    what: 'one discrepancy twice of a collection',
    breaks: (fixture) => {
      const ofCollection = { payout_id: null, collection_id: fixture.collections.failed };
      return [insert(fixture, 'discrepancies', ofCollection), insert(fixture, 'discrepancies', ofCollection)];
    },
    by: { constraint: 'discrepancies_once_per_collection' },
  },
  {
    what: 'one discrepancy twice of a reversal',
    breaks: (fixture) => {
      const ofReversal = { payout_id: null, reversal_id: fixture.reversals.failed };
      return [insert(fixture, 'discrepancies', ofReversal), insert(fixture, 'discrepancies', ofReversal)];
    },
    by: { constraint: 'discrepancies_once_per_reversal' },
  },
  ...WHAT_WAS_FOUND.map((assignment): RuleCase => ({
    what: `another ${/^\w+/.exec(assignment)?.[0] ?? ''} for a discrepancy`,
    breaks: (fixture) => [insert(fixture, 'discrepancies'), change(assignment)],
    by: { says: /can be settled once, and not change otherwise/ },
  })),
  {
    what: 'to settle a discrepancy twice',
    breaks: (fixture) => [insert(fixture, 'discrepancies'), change(SETTLED), change(SETTLED)],
    by: { says: /can be settled once, and not change otherwise/ },
  },
  ...keptForEver('discrepancies', ['DELETE', 'TRUNCATE']),
];
