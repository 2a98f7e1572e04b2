// Wrong rows of the ledger, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { insertRow, refusedChanges, ruleCase, update, wrongInserts } from '../rule-cases.ts';
import type { RuleCase, RuleFixture, Sql } from '../rule-cases.ts';

const ACCOUNT_CASES: readonly RuleCase[] = [
  ...wrongInserts('ledger_accounts', [
    ['an unknown kind', { kind: 'secret', balance_minor: 0 }, 'ledger_accounts_kind_check'],
    ['an id that does not name the owner', { id: 'mine' }, 'ledger_accounts_named_for_owner'],
    [
      'two owners of one account',
      ({ merchantId }) => ({ id: 'operator/new/UGX', merchant_id: merchantId }),
      'ledger_accounts_one_owner',
    ],
    ['an id that exists already', { id: 'operator/mtn-momo/UGX', operator: 'mtn-momo' }, 'ledger_accounts_pkey'],
    ['an unknown currency', { id: 'operator/new/BIF', currency: 'BIF' }, 'ledger_accounts_currency_fkey'],
    [
      'an unknown merchant',
      () => {
        const merchant_id = newId('mer');
        return { id: `${merchant_id}/held`, kind: 'held', merchant_id, operator: null, balance_minor: 0 };
      },
      'ledger_accounts_merchant_id_currency_fkey',
    ],
  ]),
  ...(['balance_minor = 1', 'balance_minor = balance_minor + 1', "kind = 'held'", 'balance_minor = 0'] as const).map(
    (assignment): RuleCase =>
      ruleCase(
        `an UPDATE of a ledger account with ${assignment}`,
        /changes only when a transfer is posted/,
        ({ merchantId }) => [update('ledger_accounts', `${merchantId}/available`, assignment)],
      ),
  ),
  ruleCase(
    'a new account of a merchant that has a balance',
    /a new account of a merchant starts at zero/,
    ({ merchantId }) => [
      insertRow('ledger_accounts', {
        id: `${merchantId}/savings`,
        kind: 'available',
        merchant_id: merchantId,
        currency: 'UGX',
        balance_minor: 1_000_000,
      }),
    ],
  ),
  ruleCase(
    'a new account of an operator that has a stored balance',
    /a new account of a merchant starts at zero/,
    () => [
      insertRow('ledger_accounts', {
        id: 'operator/new/UGX',
        kind: 'operator',
        operator: 'new',
        currency: 'UGX',
        balance_minor: 0,
      }),
    ],
  ),
  ...refusedChanges('ledger_accounts', ['DELETE', 'TRUNCATE']),
];

const NOT_POSTED = /changes only when a transfer is posted/;

/** A table of one's own whose trigger changes the available balance, so that the change comes from within a trigger. */
function changeFromTrigger({ merchantId }: RuleFixture, assignments: string): Sql[] {
  const texts = [
    'CREATE TABLE backdoor (x integer)',
    `CREATE FUNCTION change_balance() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       UPDATE ledger_accounts SET ${assignments} WHERE id = '${merchantId}/available';
       RETURN NULL;
     END $$`,
    'CREATE TRIGGER backdoor_change AFTER INSERT ON backdoor FOR EACH ROW EXECUTE FUNCTION change_balance()',
    'INSERT INTO backdoor VALUES (1)',
  ];
  return texts.map((text) => ({ text, values: [] }));
}

const COUNTED_CHANGES: readonly [string, string][] = [
  ['adds money', 'balance_minor = balance_minor + 1000, entry_count = entry_count + 1'],
  ['takes money', 'balance_minor = balance_minor - 1000, entry_count = entry_count + 1'],
  ['counts an entry and moves nothing', 'entry_count = entry_count + 1'],
];

const BALANCE_CASES: readonly RuleCase[] = [
  ruleCase('a balance that a trigger of one’s own changes', NOT_POSTED, (fixture) =>
    changeFromTrigger(fixture, 'balance_minor = balance_minor + 1000'),
  ),
  ...COUNTED_CHANGES.flatMap(([what, assignments]): RuleCase[] => [
    ruleCase(`a change of an account that ${what} and has no transfer`, NOT_POSTED, ({ merchantId }) => [
      update('ledger_accounts', `${merchantId}/available`, assignments),
    ]),
    ruleCase(`a trigger of one’s own that ${what} without a transfer`, NOT_POSTED, (fixture) =>
      changeFromTrigger(fixture, assignments),
    ),
  ]),
  ruleCase('two changes of an account that cancel each other out', NOT_POSTED, ({ merchantId }) =>
    ['+', '-'].map((sign) =>
      update(
        'ledger_accounts',
        `${merchantId}/available`,
        `balance_minor = balance_minor ${sign} 1000, entry_count = entry_count + 1`,
      ),
    ),
  ),
  ruleCase('a change of an account beside the posting of a transfer', NOT_POSTED, (fixture) => [
    DISABLE_CHECK,
    transfer(fixture, { payment_id: fixture.collections.prompted }),
    update(
      'ledger_accounts',
      `${fixture.merchantId}/available`,
      'balance_minor = balance_minor + 5000, entry_count = entry_count + 1',
    ),
  ]),
  ruleCase('a change of an operator’s account', NOT_POSTED, () => [
    update('ledger_accounts', 'operator/mtn-momo/UGX', 'operator = operator'),
  ]),
  ruleCase('a transfer that says another balance of its account than it has', NOT_POSTED, (fixture) => [
    DISABLE_CHECK,
    DISABLE_POSTING,
    {
      text: `INSERT INTO ledger_transfers (kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency,
               created_at, credit_entry, credit_balance_minor, status_kind, status_queried_at, status_attestation)
             SELECT 'collection_paid', $1, 'operator/mtn-momo/UGX', id, 5000, 'UGX', now(), entry_count + 1, balance_minor,
               'paid', now(), '${ATTESTATION}'
             FROM ledger_accounts WHERE id = $2`,
      values: [fixture.collections.prompted, `${fixture.merchantId}/available`],
    },
    update(
      'ledger_accounts',
      `${fixture.merchantId}/available`,
      'balance_minor = balance_minor + 5000, entry_count = entry_count + 1',
    ),
  ]),
  ruleCase('an entry without the balance after it', 'ledger_transfers_entry_balances', (fixture) => [
    DISABLE_CHECK,
    DISABLE_POSTING,
    transfer(fixture, { payment_id: fixture.collections.prompted, credit_entry: 1_000_000 }),
  ]),
  ruleCase('two transfers with one entry of an account', 'ledger_transfers_one_per_credit_entry', (fixture) => [
    DISABLE_CHECK,
    DISABLE_POSTING,
    transfer(fixture, { payment_id: fixture.collections.prompted, credit_entry: 1, credit_balance_minor: 5000 }),
  ]),
  ruleCase(
    'two transfers with one entry of an account that they debit',
    'ledger_transfers_one_per_debit_entry',
    (fixture) =>
      [fixture.collections.prompted, fixture.collections.initiated].reduce<Sql[]>(
        (statements, payment_id) => [
          ...statements,
          transfer(fixture, {
            payment_id,
            debit_account_id: `${fixture.merchantId}/held`,
            debit_entry: 1_000_000,
            credit_entry: 1_000_000 + statements.length,
            debit_balance_minor: 0,
            credit_balance_minor: 0,
          }),
        ],
        [DISABLE_CHECK, DISABLE_POSTING],
      ),
  ),
  ruleCase(
    'a transfer into a merchant’s account that is not posted',
    'ledger_transfers_credit_entry_counted',
    (fixture) => [DISABLE_CHECK, DISABLE_POSTING, transfer(fixture, { payment_id: fixture.collections.prompted })],
  ),
  ruleCase(
    'a transfer out of a merchant’s account that is not posted',
    'ledger_transfers_debit_entry_counted',
    (fixture) => [
      DISABLE_CHECK,
      DISABLE_POSTING,
      transfer(fixture, {
        payment_id: fixture.collections.prompted,
        debit_account_id: `${fixture.merchantId}/available`,
        credit_account_id: 'operator/mtn-momo/UGX',
      }),
    ],
  ),
];

const ATTESTATION = `1.${'a'.repeat(43)}`;

/** The transfer that paid the succeeded collection, with these columns replaced. */
function transfer(fixture: RuleFixture, columns: Readonly<Record<string, unknown>> = {}): Sql {
  return insertRow('ledger_transfers', {
    kind: 'collection_paid',
    payment_id: fixture.collections.succeeded,
    debit_account_id: 'operator/mtn-momo/UGX',
    credit_account_id: `${fixture.merchantId}/available`,
    amount_minor: 5000,
    currency: 'UGX',
    created_at: new Date(),
    status_kind: 'paid',
    status_queried_at: new Date(),
    status_attestation: ATTESTATION,
    ...columns,
  });
}

const WRONG_TRANSFERS: readonly [string, (fixture: RuleFixture) => Record<string, unknown>][] = [
  ['of more than the collection', () => ({ amount_minor: 5001 })],
  ['of less than the collection', () => ({ amount_minor: 4999 })],
  ['of zero', () => ({ amount_minor: 0 })],
  ['of a negative amount', () => ({ amount_minor: -5000 })],
  ['in another currency', () => ({ currency: 'KES' })],
  ['to another merchant', (fixture) => ({ credit_account_id: `${fixture.otherMerchantId}/available` })],
  ['to the held account', (fixture) => ({ credit_account_id: `${fixture.merchantId}/held` })],
  ['from another merchant', (fixture) => ({ debit_account_id: `${fixture.otherMerchantId}/available` })],
  [
    'in the wrong direction',
    (fixture) => ({ debit_account_id: `${fixture.merchantId}/available`, credit_account_id: 'operator/mtn-momo/UGX' }),
  ],
  ['from an account to itself', (fixture) => ({ debit_account_id: `${fixture.merchantId}/available` })],
  ['for a collection that is prompted', (fixture) => ({ payment_id: fixture.collections.prompted })],
  ['for a collection that failed', (fixture) => ({ payment_id: fixture.collections.failed })],
  ['for another merchant’s collection', (fixture) => ({ payment_id: fixture.otherCollectionId })],
];

// The constraints hold even when the trigger is disabled.
const DISABLE_CHECK: Sql = { text: 'ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_transfers_check', values: [] };

const DISABLE_POSTING: Sql = { text: 'ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_transfers_post', values: [] };

const ofPrompted =
  (columns: Readonly<Record<string, unknown>>) =>
  ({ collections }: RuleFixture) => ({ payment_id: collections.prompted, ...columns });

const CONSTRAINT_CASES: readonly [string, (fixture: RuleFixture) => Record<string, unknown>, string][] = [
  ['a transfer of zero', () => ({ amount_minor: 0 }), 'ledger_transfers_amount_minor_check'],
  [
    'a transfer of an unknown kind',
    () => ({ kind: 'gift', status_kind: null, status_queried_at: null, status_attestation: null }),
    'ledger_transfers_kind_check',
  ],
  [
    'a collection’s transfer of a payout',
    ({ payouts }) => ({ payment_id: payouts.succeeded }),
    'ledger_transfers_of_kind',
  ],
  ['a transfer for an unknown collection', () => ({ payment_id: newId('col') }), 'ledger_transfers_payment_id_fkey'],
  [
    'a transfer from an account to itself',
    () => ({ credit_account_id: 'operator/mtn-momo/UGX' }),
    'ledger_transfers_check',
  ],
  [
    'a transfer from an unknown account',
    ofPrompted({ debit_account_id: 'operator/none/UGX' }),
    'ledger_transfers_debit_account_id_currency_fkey',
  ],
  [
    'a transfer to an unknown account',
    ofPrompted({ credit_account_id: 'operator/none/UGX' }),
    'ledger_transfers_credit_account_id_currency_fkey',
  ],
  [
    'a transfer that makes money available without an attestation',
    ofPrompted({ status_attestation: null }),
    'ledger_transfers_attested',
  ],
  [
    'a collection that was paid by no status',
    ofPrompted({ status_kind: null, status_queried_at: null }),
    'ledger_transfers_status',
  ],
  [
    'a collection that was paid by a status that does not say so',
    ofPrompted({ status_kind: 'pending' }),
    'ledger_transfers_status',
  ],
  ['a status without the time of its query', ofPrompted({ status_queried_at: null }), 'ledger_transfers_status'],
  [
    'a held balance below zero',
    (fixture) => ofPrompted({ debit_account_id: `${fixture.merchantId}/held` })(fixture),
    'ledger_accounts_held_not_negative',
  ],
  [
    'a balance that is too large for a JSON number',
    ofPrompted({ amount_minor: '9007199254740991' }),
    'ledger_accounts_balance_range',
  ],
];

const TRANSFER_CASES: readonly RuleCase[] = [
  ...WRONG_TRANSFERS.map(([what, columns]): RuleCase =>
    ruleCase(`a transfer ${what}`, /transfer collection_paid does not match .*/, (fixture) => [
      transfer(fixture, columns(fixture)),
    ]),
  ),
  ruleCase('a transfer for an unknown collection', /query returned no rows/, (fixture) => [
    transfer(fixture, { payment_id: newId('col') }),
  ]),
  ruleCase(
    'a transfer without a payment, with the trigger disabled',
    /null value in column "payment_id"/,
    (fixture) => [DISABLE_CHECK, transfer(fixture, { payment_id: null })],
  ),
  ruleCase('a second payment of one collection', 'ledger_transfers_once_per_payment', (fixture) => [transfer(fixture)]),
  ...CONSTRAINT_CASES.map(([what, columns, constraint]): RuleCase =>
    ruleCase(`${what}, with the trigger disabled`, constraint, (fixture) => [
      DISABLE_CHECK,
      transfer(fixture, columns(fixture)),
    ]),
  ),
  ...refusedChanges('ledger_transfers', ['UPDATE', 'DELETE', 'TRUNCATE'], 'amount_minor'),
];

export const LEDGER_RULE_CASES: readonly RuleCase[] = [...ACCOUNT_CASES, ...BALANCE_CASES, ...TRANSFER_CASES];
