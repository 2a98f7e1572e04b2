// Wrong rows of the ledger, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import {
  insertRow,
  keptForEver,
  update,
  wrongInserts,
  type RuleCase,
  type Sql,
  type RuleFixture,
} from '../rule-cases.ts';

const ACCOUNT_CASES: readonly RuleCase[] = [
  ...wrongInserts('ledger_accounts', [
    ['a kind there is not', { kind: 'secret', balance_minor: 0 }, 'ledger_accounts_kind_check'],
    ['an account named for nobody', { id: 'mine' }, 'ledger_accounts_named_for_owner'],
    [
      'an account of two owners',
      ({ merchantId }) => ({ id: 'operator/new/UGX', merchant_id: merchantId }),
      'ledger_accounts_one_owner',
    ],
    ['the same account twice', { id: 'operator/mtn-momo/UGX', operator: 'mtn-momo' }, 'ledger_accounts_pkey'],
    [
      'an account of a merchant nobody knows',
      () => {
        const merchant_id = newId('mer');
        return { id: `${merchant_id}/held`, kind: 'held', merchant_id, operator: null, balance_minor: 0 };
      },
      'ledger_accounts_merchant_id_currency_fkey',
    ],
  ]),
  ...(['balance_minor = 1', 'balance_minor = balance_minor + 1', "kind = 'held'", 'balance_minor = 0'] as const).map(
    (assignment): RuleCase => ({
      what: `to set ${assignment} by hand`,
      breaks: ({ merchantId }) => [update('ledger_accounts', `${merchantId}/available`, assignment)],
      by: { says: /a balance changes only by a transfer/ },
    }),
  ),
  {
    what: 'an account that begins with money in it',
    breaks: ({ merchantId }) => [
      insertRow('ledger_accounts', {
        id: `${merchantId}/savings`,
        kind: 'available',
        merchant_id: merchantId,
        currency: 'UGX',
        balance_minor: 1_000_000,
      }),
    ],
    by: { says: /an account begins at zero/ },
  },
  {
    what: 'a kept balance for an operator',
    breaks: () => [
      insertRow('ledger_accounts', {
        id: 'operator/new/UGX',
        kind: 'operator',
        operator: 'new',
        currency: 'UGX',
        balance_minor: 0,
      }),
    ],
    by: { says: /an account begins at zero/ },
  },
  ...keptForEver('ledger_accounts', ['DELETE', 'TRUNCATE']),
];

/** The transfer that paid the succeeded collection, with these columns replaced. */
function transfer(fixture: RuleFixture, columns: Readonly<Record<string, unknown>> = {}): Sql {
  return insertRow('ledger_transfers', {
    kind: 'collection_paid',
    collection_id: fixture.collections.succeeded,
    debit_account_id: 'operator/mtn-momo/UGX',
    credit_account_id: `${fixture.merchantId}/available`,
    amount_minor: 5000,
    currency: 'UGX',
    created_at: new Date(),
    ...columns,
  });
}

const NOT_THE_PAYMENT: readonly [string, (fixture: RuleFixture) => Record<string, unknown>][] = [
  ['of more than was asked for', () => ({ amount_minor: 5001 })],
  ['of less than was asked for', () => ({ amount_minor: 4999 })],
  ['of nothing', () => ({ amount_minor: 0 })],
  ['of a negative amount', () => ({ amount_minor: -5000 })],
  ['in another currency', () => ({ currency: 'KES' })],
  ['to another merchant', (fixture) => ({ credit_account_id: `${fixture.otherMerchantId}/available` })],
  ['to what is held', (fixture) => ({ credit_account_id: `${fixture.merchantId}/held` })],
  ['from another merchant', (fixture) => ({ debit_account_id: `${fixture.otherMerchantId}/available` })],
  [
    'the wrong way round',
    (fixture) => ({ debit_account_id: `${fixture.merchantId}/available`, credit_account_id: 'operator/mtn-momo/UGX' }),
  ],
  ['from an account to itself', (fixture) => ({ debit_account_id: `${fixture.merchantId}/available` })],
  ['for a collection that is not paid', (fixture) => ({ collection_id: fixture.collections.prompted })],
  ['for a collection that failed', (fixture) => ({ collection_id: fixture.collections.failed })],
  ['for another merchant’s collection', (fixture) => ({ collection_id: fixture.otherCollectionId })],
];

// The checks below the trigger's hold even where the trigger does not speak.
const UNGUARDED: Sql = { text: 'ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_transfers_check', values: [] };

const UNGUARDED_CASES: readonly [string, (fixture: RuleFixture) => Record<string, unknown>, string][] = [
  ['a transfer of nothing', () => ({ amount_minor: 0 }), 'ledger_transfers_amount_minor_check'],
  ['a transfer of a kind there is not', () => ({ kind: 'gift' }), 'ledger_transfers_kind_check'],
  ['a transfer of no collection', () => ({ collection_id: null }), 'ledger_transfers_of_a_collection'],
  [
    'a transfer of a collection nobody knows',
    () => ({ collection_id: newId('col') }),
    'ledger_transfers_collection_id_fkey',
  ],
  [
    'a transfer from an account to itself',
    () => ({ credit_account_id: 'operator/mtn-momo/UGX' }),
    'ledger_transfers_check',
  ],
  [
    'a transfer from an account nobody has',
    (fixture) => ({ collection_id: fixture.collections.prompted, debit_account_id: 'operator/none/UGX' }),
    'ledger_transfers_debit_account_id_currency_fkey',
  ],
  [
    'a transfer to an account nobody has',
    (fixture) => ({ collection_id: fixture.collections.prompted, credit_account_id: 'operator/none/UGX' }),
    'ledger_transfers_credit_account_id_currency_fkey',
  ],
  [
    'to hold less than nothing',
    (fixture) => ({
      collection_id: fixture.collections.prompted,
      debit_account_id: `${fixture.merchantId}/held`,
    }),
    'ledger_accounts_held_not_negative',
  ],
  [
    'a balance beyond a JSON number',
    (fixture) => ({ collection_id: fixture.collections.prompted, amount_minor: '9007199254740991' }),
    'ledger_accounts_balance_range',
  ],
];

const TRANSFER_CASES: readonly RuleCase[] = [
  ...NOT_THE_PAYMENT.map(([what, columns]): RuleCase => ({
    what: `a transfer ${what}`,
    breaks: (fixture) => [transfer(fixture, columns(fixture))],
    by: { says: /transfer collection_paid does not pay .* as it stands/ },
  })),
  {
    what: 'a transfer of a collection nobody knows, before anything else',
    breaks: (fixture) => [transfer(fixture, { collection_id: newId('col') })],
    by: { says: /query returned no rows/ },
  },
  {
    what: 'to pay a collection twice',
    breaks: (fixture) => [transfer(fixture)],
    by: { constraint: 'ledger_transfers_once_per_collection' },
  },
  ...UNGUARDED_CASES.map(([what, columns, constraint]): RuleCase => ({
    what,
    breaks: (fixture) => [UNGUARDED, transfer(fixture, columns(fixture))],
    by: { constraint },
  })),
  ...keptForEver('ledger_transfers', ['UPDATE', 'DELETE', 'TRUNCATE'], 'amount_minor'),
];

export const LEDGER_RULE_CASES: readonly RuleCase[] = [...ACCOUNT_CASES, ...TRANSFER_CASES];
