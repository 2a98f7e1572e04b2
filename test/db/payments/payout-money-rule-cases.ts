// What a payout must write besides its row, and how it can be wrong: transfers, events, and what operators called back.
import { newId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES, type PayoutState } from '../../../src/domain/payments/payout.ts';
import { insert, insertRow, move, wrongInserts, type RuleCase, type Sql, type RuleFixture } from '../rule-cases.ts';

type Columns = Readonly<Record<string, unknown>>;

/** The one state that each movement belongs to, and from where to where it goes. */
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

/** The transfer as this kind of movement makes it, with these columns replaced. */
function transfer(fixture: RuleFixture, kind: Kind, payoutId: string, columns: Columns = {}): Sql {
  return insertRow('ledger_transfers', {
    kind,
    payout_id: payoutId,
    debit_account_id: account(fixture, MOVEMENTS[kind].from),
    credit_account_id: account(fixture, MOVEMENTS[kind].to),
    amount_minor: 1000,
    currency: 'UGX',
    created_at: new Date(),
    ...columns,
  });
}

function event(fixture: RuleFixture, payoutId: string, state: string, version: number, columns: Columns = {}): Sql {
  const subject = { collection_id: null, payout_id: payoutId, resource_version: version };
  return insert(fixture, 'events', { type: `payout.${state}`, ...subject, ...columns });
}

/** Every movement for a payout in every state: the right one is written already, and no other ever is. */
const KIND_CASES: readonly RuleCase[] = PAYOUT_STATES.flatMap((state) =>
  KINDS.map((kind): RuleCase => {
    const isRight = (MOVEMENTS[kind].states as readonly PayoutState[]).includes(state);
    return {
      what: `${kind} for a payout that is ${state}${isRight ? ', a second time' : ''}`,
      breaks: (fixture) => [transfer(fixture, kind, fixture.payouts[state])],
      by: isRight ? { constraint: 'ledger_transfers_once_per_payout' } : { says: /does not pay .* as it stands/ },
    };
  }),
);

const NOT_THE_PAYMENT: readonly [string, (fixture: RuleFixture) => Columns][] = [
  ['of more than the payout', () => ({ amount_minor: 1001 })],
  ['of less than the payout', () => ({ amount_minor: 999 })],
  ['in another currency', () => ({ currency: 'KES' })],
  ['to another merchant', (fixture) => ({ credit_account_id: `${fixture.otherMerchantId}/available` })],
  ['from another merchant', (fixture) => ({ debit_account_id: `${fixture.otherMerchantId}/held` })],
  ['to the operator', () => ({ credit_account_id: 'operator/mtn-momo/UGX' })],
  [
    'the wrong way round',
    (fixture) => ({ debit_account_id: account(fixture, 'available'), credit_account_id: account(fixture, 'held') }),
  ],
  ['for another merchant’s payout', (fixture) => ({ payout_id: fixture.otherPayoutId })],
];

// The checks below the trigger's hold even where the trigger does not speak.
const UNGUARDED: Sql = { text: 'ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_transfers_check', values: [] };

const TRANSFER_CASES: readonly RuleCase[] = [
  ...KIND_CASES,
  ...NOT_THE_PAYMENT.map(([what, columns]): RuleCase => ({
    what: `money given back ${what}`,
    breaks: (fixture) => [transfer(fixture, 'payout_voided', fixture.payouts.rejected, columns(fixture))],
    by: { says: /transfer payout_voided does not pay .* as it stands/ },
  })),
  {
    what: 'a transfer of a payout without one, even where no trigger speaks',
    breaks: (fixture) => [UNGUARDED, transfer(fixture, 'payout_held', '', { payout_id: null })],
    by: { constraint: 'ledger_transfers_of_a_payout' },
  },
  {
    what: 'a transfer of a payout nobody knows, even where no trigger speaks',
    breaks: (fixture) => [UNGUARDED, transfer(fixture, 'payout_held', newId('pay'))],
    by: { constraint: 'ledger_transfers_payout_id_fkey' },
  },
  {
    what: 'to hold more than what is available',
    breaks: (fixture) => {
      const payout = { id: newId('pay'), amount_minor: 5_000_000 };
      return [
        insert(fixture, 'payouts', payout),
        transfer(fixture, 'payout_held', payout.id, { amount_minor: payout.amount_minor }),
      ];
    },
    by: { says: /is more than what is available/ },
  },
];

type Made = { readonly id: string; readonly sql: Sql };

function madePayout(fixture: RuleFixture): Made {
  const id = newId('pay');
  return { id, sql: insert(fixture, 'payouts', { id }) };
}

/** Ends that take money somewhere: from which state, what else the row must have, and which version it then is. */
const ENDS = [
  ['queued', 'rejected', "rejection_reason = 'no', decided_by = created_by", 1],
  ['queued', 'cancelled', 'decided_by = created_by', 1],
  ['queued', 'expired', '', 1],
  ['released', 'failed', "failure_code = 'unknown'", 2],
  ['released', 'succeeded', "operator_receipt = '42'", 2],
  ['reconciling', 'failed', "failure_code = 'unknown'", 3],
  ['reconciling', 'succeeded', "operator_receipt = '42'", 3],
  ['succeeded', 'reversed', 'amount_reversed_minor = amount_minor', 3],
] as const;

const COMMIT_CASES: readonly RuleCase[] = [
  {
    what: 'a new payout whose money is not held',
    breaks: (fixture) => {
      const { id, sql } = madePayout(fixture);
      return [sql, event(fixture, id, 'queued', 0)];
    },
    by: { says: /is queued with the transfers \{\}/ },
  },
  {
    what: 'a new payout that nobody is told of',
    breaks: (fixture) => {
      const { id, sql } = madePayout(fixture);
      return [sql, transfer(fixture, 'payout_held', id)];
    },
    by: { says: /became queued without an event/ },
  },
  ...ENDS.flatMap(([from, to, assignments, version]): RuleCase[] => [
    {
      what: `a payout that went from ${from} to ${to} without its money`,
      breaks: (fixture) => [
        move(fixture.payouts[from], to, assignments),
        event(fixture, fixture.payouts[from], to, version),
      ],
      by: { says: new RegExp(`is ${to} with the transfers \\{payout_held`) },
    },
    {
      what: `a payout that went from ${from} to ${to} without telling`,
      breaks: (fixture) => [move(fixture.payouts[from], to, assignments)],
      by: { says: new RegExp(`became ${to} without an event`) },
    },
  ]),
  {
    what: 'a payout in doubt whose money is given back, even where no trigger speaks',
    breaks: (fixture) => [
      UNGUARDED,
      move(fixture.payouts.released, 'reconciling'),
      event(fixture, fixture.payouts.released, 'reconciling', 2),
      transfer(fixture, 'payout_voided', fixture.payouts.released),
    ],
    by: { says: /is reconciling with the transfers \{payout_held,payout_voided\}/ },
  },
  {
    what: 'a failed payout that is both given back and paid, even where no trigger speaks',
    breaks: (fixture) => [
      UNGUARDED,
      move(fixture.payouts.released, 'failed', "failure_code = 'unknown'"),
      event(fixture, fixture.payouts.released, 'failed', 2),
      transfer(fixture, 'payout_voided', fixture.payouts.released),
      transfer(fixture, 'payout_paid', fixture.payouts.released),
    ],
    by: { says: /is failed with the transfers \{payout_held,payout_paid,payout_voided\}/ },
  },
  {
    what: 'a payout that succeeded and was given back',
    breaks: (fixture) => [
      move(fixture.payouts.released, 'succeeded', "operator_receipt = '42'"),
      transfer(fixture, 'payout_voided', fixture.payouts.released),
    ],
    by: { says: /transfer payout_voided does not pay .* as it stands/ },
  },
];

const OF_NOTHING = { collection_id: null, payout_id: null, resource_version: null };

const EVENT_CASES: readonly RuleCase[] = [
  ...wrongInserts('events', [
    [
      'a payout nobody knows',
      () => ({ type: 'payout.released', collection_id: null, payout_id: newId('pay'), resource_version: 1 }),
      'events_payout_id_fkey',
    ],
    ['a change of no payout', { ...OF_NOTHING, type: 'payout.released' }, 'events_of_a_resource'],
    ['a payout’s change with a collection', { type: 'payout.released' }, 'events_of_a_resource'],
    [
      'a change of two things at once',
      ({ payouts }) => ({ payout_id: payouts.released, resource_version: 7 }),
      'events_of_a_resource',
    ],
    [
      'a payout’s change without a version',
      ({ payouts }) => ({ ...OF_NOTHING, type: 'payout.released', payout_id: payouts.released }),
      'events_of_a_resource',
    ],
  ]),
  {
    what: 'one change of a payout told twice',
    breaks: (fixture) => [event(fixture, fixture.payouts.released, 'released', 1)],
    by: { constraint: 'events_one_per_payout_change' },
  },
  {
    what: 'an event for another merchant than its payout',
    breaks: (fixture) => [
      event(fixture, fixture.payouts.queued, 'released', 1, { merchant_id: fixture.otherMerchantId }),
    ],
    by: { says: /for another merchant than what it tells of/ },
  },
  {
    what: 'a change of a payout with an event of another version',
    breaks: (fixture) => [
      move(fixture.payouts.released, 'reconciling'),
      event(fixture, fixture.payouts.released, 'reconciling', 3),
    ],
    by: { says: /became reconciling without an event/ },
  },
];

const CALLBACK_CASES: readonly RuleCase[] = wrongInserts('operator_callbacks', [
  ['what speaks of nothing', { collection_id: null }, 'operator_callbacks_of_one'],
  ['what speaks of two things', ({ payouts }) => ({ payout_id: payouts.released }), 'operator_callbacks_of_one'],
  [
    'a payout nobody knows',
    () => ({ collection_id: null, payout_id: newId('pay') }),
    'operator_callbacks_payout_id_fkey',
  ],
  [
    'a reversal nobody knows',
    () => ({ collection_id: null, reversal_id: newId('rev') }),
    'operator_callbacks_reversal_id_fkey',
  ],
]);

export const PAYOUT_MONEY_RULE_CASES: readonly RuleCase[] = [
  ...TRANSFER_CASES,
  ...COMMIT_CASES,
  ...EVENT_CASES,
  ...CALLBACK_CASES,
];
