// Wrong transfers, events and callbacks of payouts, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES, type PayoutState } from '../../../src/domain/payments/payout.ts';
import { insert, insertRow, move, ruleCase, wrongInserts, statusQueryOf } from '../rule-cases.ts';
import type { RuleCase, RuleFixture, Sql } from '../rule-cases.ts';

type Columns = Readonly<Record<string, unknown>>;

/** The states that each movement belongs to, and the accounts that it moves money between. */
const MOVEMENTS = {
  payout_held: { states: ['queued'], from: 'available', to: 'held' },
  payout_voided: { states: ['failed', 'rejected', 'cancelled', 'expired'], from: 'held', to: 'available' },
  payout_paid: { states: ['succeeded'], from: 'held', to: 'operator' },
  payout_returned: { states: ['reversed'], from: 'operator', to: 'available' },
} as const;
type Kind = keyof typeof MOVEMENTS;
const KINDS = Object.keys(MOVEMENTS) as Kind[];

function account({ merchantId }: RuleFixture, name: 'available' | 'held' | 'operator'): string {
  return name === 'operator' ? 'operator/mtn-momo/UGX' : `${merchantId}/${name}`;
}

/** The transfer of this kind of movement, with these columns replaced. */
function transfer(fixture: RuleFixture, kind: Kind, payoutId: string, columns: Columns = {}): Sql {
  return insertRow('ledger_transfers', {
    kind,
    payment_id: payoutId,
    debit_account_id: account(fixture, MOVEMENTS[kind].from),
    credit_account_id: account(fixture, MOVEMENTS[kind].to),
    amount_minor: 1000,
    currency: 'UGX',
    created_at: new Date(),
    ...(kind === 'payout_voided' || kind === 'payout_returned' ? { status_attestation: `1.${'a'.repeat(43)}` } : {}),
    ...(kind === 'payout_returned' ? status('returned') : {}),
    ...(kind === 'payout_voided' && payoutId === fixture.payouts.failed ? status('declined') : {}),
    ...columns,
  });
}

/** What the operator said. */
const status = (kind: string): Columns => ({ status_kind: kind, status_queried_at: new Date() });

function event(fixture: RuleFixture, payoutId: string, state: string, version: number, columns: Columns = {}): Sql {
  const subject = { payment_id: payoutId, resource_version: version };
  return insert(fixture, 'events', { type: `payout.${state}`, ...subject, ...columns });
}

/** Every movement for a payout in every state: the right one exists already, and every other one is refused. */
const KIND_CASES: readonly RuleCase[] = PAYOUT_STATES.flatMap((state) =>
  KINDS.map((kind): RuleCase => {
    const isRight = (MOVEMENTS[kind].states as readonly PayoutState[]).includes(state);
    return {
      what: `a ${isRight ? 'second ' : ''}${kind} transfer of a payout that is ${state}`,
      breaks: (fixture) => [transfer(fixture, kind, fixture.payouts[state])],
      by: isRight ? { constraint: 'ledger_transfers_once_per_payment' } : { says: /does not match the state/ },
    };
  }),
);

const WRONG_TRANSFERS: readonly [string, (fixture: RuleFixture) => Columns][] = [
  ['of more than the payout', () => ({ amount_minor: 1001 })],
  ['of less than the payout', () => ({ amount_minor: 999 })],
  ['in another currency', () => ({ currency: 'KES' })],
  ['to another merchant', (fixture) => ({ credit_account_id: `${fixture.otherMerchantId}/available` })],
  ['from another merchant', (fixture) => ({ debit_account_id: `${fixture.otherMerchantId}/held` })],
  ['to the operator', () => ({ credit_account_id: 'operator/mtn-momo/UGX' })],
  [
    'in the wrong direction',
    (fixture) => ({ debit_account_id: account(fixture, 'available'), credit_account_id: account(fixture, 'held') }),
  ],
  ['for another merchant’s payout', (fixture) => ({ payment_id: fixture.otherPayoutId })],
];

// The constraints hold even when the trigger is disabled.
const DISABLE_CHECK: Sql = { text: 'ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_transfers_check', values: [] };

const TRANSFER_CASES: readonly RuleCase[] = [
  ...KIND_CASES,
  ...WRONG_TRANSFERS.map(([what, columns]): RuleCase =>
    ruleCase(`a payout_voided transfer ${what}`, /transfer payout_voided does not match .*/, (fixture) => [
      transfer(fixture, 'payout_voided', fixture.payouts.rejected, columns(fixture)),
    ]),
  ),
  ruleCase('a payout’s transfer of a collection, with the trigger disabled', 'ledger_transfers_of_kind', (fixture) => [
    DISABLE_CHECK,
    transfer(fixture, 'payout_held', fixture.collections.succeeded),
  ]),
  ruleCase(
    'a transfer of an unknown payout, with the trigger disabled',
    'ledger_transfers_payment_id_fkey',
    (fixture) => [DISABLE_CHECK, transfer(fixture, 'payout_held', newId('pay'))],
  ),
  ruleCase('a hold of a failed payout that is voided by no status', /is voided by another status/, (fixture) => [
    transfer(fixture, 'payout_voided', fixture.payouts.failed, { status_kind: null, status_queried_at: null }),
  ]),
  ruleCase('a hold of a rejected payout that is voided by a status', /is voided by another status/, (fixture) => [
    transfer(fixture, 'payout_voided', fixture.payouts.rejected, status('declined')),
  ]),
  ruleCase('a hold that is voided by a status that says paid', 'ledger_transfers_status', (fixture) => [
    transfer(fixture, 'payout_voided', fixture.payouts.failed, status('paid')),
  ]),
  ruleCase('a hold that is voided without an attestation', 'ledger_transfers_attested', (fixture) => [
    transfer(fixture, 'payout_voided', fixture.payouts.rejected, { status_attestation: null }),
  ]),
  ruleCase('a payout that is returned by no status', 'ledger_transfers_status', (fixture) => [
    transfer(fixture, 'payout_returned', fixture.payouts.reversed, { status_kind: null, status_queried_at: null }),
  ]),
  ruleCase('to hold more than the available balance', /exceeds the available balance/, (fixture) => {
    const payout = { id: newId('pay'), amount_minor: 5_000_000 };
    return [
      insert(fixture, 'payouts', payout),
      transfer(fixture, 'payout_held', payout.id, { amount_minor: payout.amount_minor }),
    ];
  }),
];

function newPayout(fixture: RuleFixture): { readonly id: string; readonly sql: Sql } {
  const id = newId('pay');
  return { id, sql: insert(fixture, 'payouts', { id }) };
}

const DECLINED = "failure_code = 'unknown', failed_by = 'declined'";

/** Transitions that move money: from, to, the other columns that the row needs, and the version that it then has. */
const MOVES = [
  ['queued', 'rejected', "rejection_reason = 'no', decided_by = created_by", 1],
  ['queued', 'cancelled', 'decided_by = created_by', 1],
  ['queued', 'expired', '', 1],
  ['released', 'failed', DECLINED, 2],
  ['released', 'succeeded', "operator_receipt = '42'", 2],
  ['reconciling', 'failed', DECLINED, 3],
  ['reconciling', 'succeeded', "operator_receipt = '42'", 3],
  ['succeeded', 'reversed', 'amount_reversed_minor = amount_minor', 3],
] as const;

const COMMIT_CASES: readonly RuleCase[] = [
  ruleCase('a new payout whose money is not held', /is queued but has the transfers \{\}/, (fixture) => {
    const { id, sql } = newPayout(fixture);
    return [sql, event(fixture, id, 'queued', 0)];
  }),
  ruleCase('a new payout without its event', /became queued without an event/, (fixture) => {
    const { id, sql } = newPayout(fixture);
    return [sql, transfer(fixture, 'payout_held', id)];
  }),
  ...MOVES.flatMap(([from, to, assignments, version]): RuleCase[] => [
    ruleCase(
      `a payout that moves from ${from} to ${to} without its transfer`,
      new RegExp(`is ${to} but has the transfers \\{payout_held`),
      (fixture) => [move(fixture.payouts[from], to, assignments), event(fixture, fixture.payouts[from], to, version)],
    ),
    ruleCase(
      `a payout that moves from ${from} to ${to} without its event`,
      new RegExp(`became ${to} without an event`),
      (fixture) => [move(fixture.payouts[from], to, assignments)],
    ),
  ]),
  ruleCase(
    'a reconciling payout whose money is given back, with the trigger disabled',
    /is reconciling but has the transfers \{payout_held,payout_voided\}/,
    (fixture) => [
      DISABLE_CHECK,
      statusQueryOf(fixture.payouts.released),
      move(fixture.payouts.released, 'reconciling'),
      event(fixture, fixture.payouts.released, 'reconciling', 2),
      transfer(fixture, 'payout_voided', fixture.payouts.released),
    ],
  ),
  ruleCase(
    'a failed payout that is both given back and paid, with the trigger disabled',
    /is failed but has the transfers \{payout_held,payout_paid,payout_voided\}/,
    (fixture) => [
      DISABLE_CHECK,
      move(fixture.payouts.released, 'failed', DECLINED),
      event(fixture, fixture.payouts.released, 'failed', 2),
      transfer(fixture, 'payout_voided', fixture.payouts.released, status('declined')),
      transfer(fixture, 'payout_paid', fixture.payouts.released),
    ],
  ),
  ruleCase('a payout that succeeded and is given back', /transfer payout_voided does not match .*/, (fixture) => [
    move(fixture.payouts.released, 'succeeded', "operator_receipt = '42'"),
    transfer(fixture, 'payout_voided', fixture.payouts.released),
  ]),
];

const OF_NOTHING = { payment_id: null, resource_version: null };

const EVENT_CASES: readonly RuleCase[] = [
  ...wrongInserts('events', [
    [
      'an unknown payout',
      () => ({ type: 'payout.released', payment_id: newId('pay'), resource_version: 1 }),
      'events_payment_id_fkey',
    ],
    ['a payout’s event without the payout', { ...OF_NOTHING, type: 'payout.released' }, 'events_of_a_payment'],
    ['a payout’s event with a collection', { type: 'payout.released' }, 'events_of_a_payment'],
    [
      'a collection’s event with a payout',
      ({ payouts }) => ({ payment_id: payouts.released, resource_version: 7 }),
      'events_of_a_payment',
    ],
    [
      'a payout’s event without a version',
      ({ payouts }) => ({ ...OF_NOTHING, type: 'payout.released', payment_id: payouts.released }),
      'events_of_a_payment',
    ],
    [
      'an event of a refund',
      ({ reversals }) => ({ type: 'reversal.released', payment_id: reversals.released, resource_version: 1 }),
      'events_of_a_payment',
    ],
  ]),
  ruleCase('a second event of one change of a payout', 'events_one_per_change', (fixture) => [
    event(fixture, fixture.payouts.released, 'released', 1),
  ]),
  ruleCase(
    'an event of another merchant than its payout',
    /belongs to another merchant than its payment/,
    (fixture) => [event(fixture, fixture.payouts.queued, 'released', 1, { merchant_id: fixture.otherMerchantId })],
  ),
  ruleCase(
    'a state change of a payout with the event of another version',
    /became reconciling without an event/,
    (fixture) => [
      statusQueryOf(fixture.payouts.released),
      move(fixture.payouts.released, 'reconciling'),
      event(fixture, fixture.payouts.released, 'reconciling', 3),
    ],
  ),
];

const CALLBACK_CASES: readonly RuleCase[] = [
  ...wrongInserts('operator_callbacks', [
    ['an unknown payout', () => ({ payment_id: newId('pay') }), 'operator_callbacks_payment_id_fkey'],
    ['an unknown reversal', () => ({ payment_id: newId('rev') }), 'operator_callbacks_payment_id_fkey'],
  ]),
  ruleCase('a callback without a payment and without a reference', 'operator_callbacks_about', (fixture) => [
    insert(fixture, 'operator_callbacks', { payment_id: null }),
  ]),
  ruleCase('a callback with a payment and with a reference', 'operator_callbacks_about', (fixture) => [
    insert(fixture, 'operator_callbacks', { operator_reference: randomUUID() }),
  ]),
];

const RECEIPT_CASES: readonly RuleCase[] = [
  ruleCase('one receipt of an operator for two payouts', 'payments_one_per_receipt', ({ payouts }) => [
    move(payouts.released, 'succeeded', "operator_receipt = '4711'"),
    move(payouts.reconciling, 'succeeded', "operator_receipt = '4711'"),
  ]),
];

export const PAYOUT_MONEY_RULE_CASES: readonly RuleCase[] = [
  ...TRANSFER_CASES,
  ...COMMIT_CASES,
  ...EVENT_CASES,
  ...CALLBACK_CASES,
  ...RECEIPT_CASES,
];
