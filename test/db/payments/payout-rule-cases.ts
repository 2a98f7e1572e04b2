// Wrong rows of payouts and their approvals, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS } from '../../../src/domain/payments/payout.ts';
import {
  insert,
  keptForEver,
  move,
  update,
  wrongInserts,
  type RuleCase,
  type Sql,
  type RuleFixture,
} from '../rule-cases.ts';

const PAYOUT_ROW_CASES: readonly RuleCase[] = [
  ...wrongInserts('payouts', [
    ['an id of another form', { id: 'pay_1' }, 'payouts_id_check'],
    ['the same payout twice', ({ payouts }) => ({ id: payouts.queued }), 'payouts_pkey'],
    ['another currency than the merchant’s', { currency: 'KES' }, 'payouts_merchant_id_currency_fkey'],
    ['no idempotency key', { idempotency_key: '' }, 'payouts_idempotency_key_check'],
    ['an amount of nothing', { amount_minor: 0 }, 'payouts_amount_minor_check'],
    ['a negative amount', { amount_minor: -1000 }, 'payouts_amount_minor_check'],
    ['an amount beyond a JSON number', { amount_minor: '9007199254740992' }, 'payouts_amount_minor_check'],
    ['no reference', { reference: '' }, 'payouts_reference_check'],
    ['a phone with a plus', { phone: '+256772000100' }, 'payouts_phone_check'],
    ['an empty description', { description: '' }, 'payouts_description_check'],
    ['a long description', { description: 'x'.repeat(121) }, 'payouts_description_check'],
    ['metadata that is a list', { metadata: '[]' }, 'payouts_metadata_check'],
    ['a version before anything happened', { version: 1 }, 'payouts_made_queued'],
    ['a state before the first', { previous_state: 'released' }, 'payouts_made_queued'],
    ['a failure without failing', { failure_code: 'unknown' }, 'payouts_failure'],
    ['a receipt without payment', { operator_receipt: '42' }, 'payouts_receipt'],
    ['a receipt of nothing', { operator_receipt: '' }, 'payouts_operator_receipt_check'],
    ['a return without payment', { amount_reversed_minor: 1 }, 'payouts_reversed_amount'],
    ['a reason without a rejection', { rejection_reason: 'wrong person' }, 'payouts_rejection'],
    ['a decision before there was one', ({ approverId }) => ({ decided_by: approverId }), 'payouts_decided'],
    ['a deadline before the release', { send_deadline_at: new Date() }, 'payouts_send_deadline'],
    ['release by nobody', { approvals_required: 0 }, 'payouts_approvals_required_check'],
    ['release by three', { approvals_required: 3 }, 'payouts_approvals_required_check'],
    [
      'a maker who is no member',
      ({ otherMemberId }) => ({ created_by: otherMemberId }),
      'payouts_merchant_id_created_by_fkey',
    ],
    ['a key nobody has', () => ({ api_key_id: newId('key') }), 'payouts_api_key_id_fkey'],
  ]),
  ...['send_begun_at', 'accepted_at'].map((column) => ({
    what: `to forget ${column} of a payout`,
    breaks: ({ payouts }: RuleFixture) => [
      update('payouts', payouts.released, `${column} = now()`),
      update('payouts', payouts.released, `${column} = NULL`),
    ],
    by: { says: /was sent cannot be forgotten/ },
  })),
  {
    what: 'a payout made with the key of another merchant',
    breaks: (fixture) => {
      const id = newId('key');
      return [
        insert(fixture, 'api_keys', { id, merchant_id: fixture.otherMerchantId, created_by: null }),
        insert(fixture, 'payouts', { api_key_id: id }),
      ];
    },
    by: { says: /with the key of another merchant/ },
  },
  {
    what: 'one operator reference for two payouts',
    breaks: (fixture) => {
      const reference = { operator_reference: randomUUID() };
      return [insert(fixture, 'payouts', reference), insert(fixture, 'payouts', reference)];
    },
    by: { constraint: 'payouts_operator_reference_key' },
  },
  {
    what: 'two open payouts for one idempotency key',
    breaks: (fixture) => {
      const key = { idempotency_key: 'salary-1' };
      return [insert(fixture, 'payouts', key), insert(fixture, 'payouts', key)];
    },
    by: { constraint: 'payouts_one_open_per_key' },
  },
  {
    what: 'a payout that begins anywhere but at the beginning',
    breaks: (fixture) => [
      insert(fixture, 'payouts', {
        state: 'released',
        version: 1,
        previous_state: 'queued',
        send_deadline_at: new Date(),
      }),
    ],
    by: { says: /must begin as queued/ },
  },
];

const WHAT_WAS_ASKED_FOR: readonly string[] = [
  `id = '${newId('pay')}'`,
  'amount_minor = amount_minor - 1',
  "currency = 'KES'",
  "reference = 'SAL-2'",
  "phone = '256772000101'",
  "operator = 'other'",
  `operator_reference = '${randomUUID()}'`,
  "idempotency_key = 'other'",
  "description = 'other'",
  `metadata = '{"a":"b"}'`,
  `created_by = '${newId('usr')}'`,
  `api_key_id = '${newId('key')}'`,
  "created_at = created_at - interval '1 day'",
  "expires_at = expires_at + interval '1 day'",
];

const PAYOUT_CHANGE_CASES: readonly RuleCase[] = [
  ...WHAT_WAS_ASKED_FOR.map((assignment): RuleCase => ({
    what: `another ${/^\w+/.exec(assignment)?.[0] ?? ''} for a payout`,
    breaks: ({ payouts }) => [update('payouts', payouts.queued, assignment)],
    by: { says: /what was asked for .* cannot change/ },
  })),
  {
    what: 'another merchant for a payout',
    breaks: ({ payouts, otherMerchantId }) => [update('payouts', payouts.queued, `merchant_id = '${otherMerchantId}'`)],
    by: { says: /what was asked for .* cannot change/ },
  },
  {
    what: 'fewer approvals for a payout than it needed',
    breaks: ({ payouts }) => [
      update('payouts', payouts.queued, 'approvals_required = 2'),
      update('payouts', payouts.queued, 'approvals_required = 1'),
    ],
    by: { says: /cannot need fewer approvals/ },
  },
  ...(
    [
      ['queued', 'version = version + 1'],
      ['released', "previous_state = 'reconciling'"],
      ['released', "send_deadline_at = send_deadline_at + interval '1 hour'"],
      ['failed', "failure_code = 'unknown'"],
      ['succeeded', "operator_receipt = '43'"],
      ['rejected', "rejection_reason = 'another'"],
      ['rejected', 'decided_by = created_by'],
    ] as const
  ).map(([state, assignment]): RuleCase => ({
    what: `to set ${/^\w+/.exec(assignment)?.[0] ?? ''} of a payout that stays ${state}`,
    breaks: ({ payouts }) => [update('payouts', payouts[state], assignment)],
    by: { says: /can change its outcome only with its state/ },
  })),
  {
    what: 'a change of a payout’s state that is not counted',
    breaks: ({ payouts }) => [update('payouts', payouts.queued, "state = 'expired', previous_state = state")],
    by: { says: /must count its state changes/ },
  },
  {
    what: 'a change of a payout’s state that does not name the state it left',
    breaks: ({ payouts }) => [
      update('payouts', payouts.released, "state = 'reconciling', version = version + 1, previous_state = 'queued'"),
    ],
    by: { says: /name the state it left/ },
  },
  ...keptForEver('payouts', ['DELETE', 'TRUNCATE']),
];

/** What a state must have besides its name; without it another rule would refuse first. */
const BELONGINGS: Readonly<Record<string, string>> = {
  queued: 'send_deadline_at = NULL',
  released: 'send_deadline_at = now()',
  reconciling: 'send_deadline_at = now()',
  succeeded: "send_deadline_at = now(), operator_receipt = '42'",
  failed: "send_deadline_at = now(), failure_code = 'unknown'",
  rejected: "rejection_reason = 'wrong person', decided_by = created_by",
  cancelled: 'decided_by = created_by',
  expired: '',
  reversed: "send_deadline_at = now(), operator_receipt = '42', amount_reversed_minor = amount_minor",
};
const NAMES = ['send_deadline_at', 'operator_receipt', 'failure_code', 'rejection_reason', 'decided_by'] as const;
/** The belongings of a state, and none of any other's. */
function only(state: string): string {
  const own = BELONGINGS[state] ?? '';
  const cleared = NAMES.filter((name) => !own.includes(name)).map((name) => `${name} = NULL`);
  return [own, ...cleared, ...(state === 'reversed' ? [] : ['amount_reversed_minor = 0'])].filter(Boolean).join(', ');
}

/** Every pair of states that the table of transitions does not have. A return to the first state has a rule of its own. */
const TRANSITION_CASES: readonly RuleCase[] = PAYOUT_STATES.flatMap((from) => {
  const targets = Object.values(PAYOUT_TRANSITIONS[from]);
  const illegal = PAYOUT_STATES.filter((to) => to !== from && !targets.includes(to));
  return illegal.map((to): RuleCase => {
    const by = to === 'queued' ? 'payouts_made_queued' : to === 'released' ? null : 'payouts_previous_state_state_fkey';
    return {
      what: `to move a payout from ${from} to ${to}`,
      breaks: ({ payouts }) => [move(payouts[from], to, only(to))],
      by: by === null ? { says: /lacks approvals|payouts_previous_state_state_fkey/ } : { constraint: by },
    };
  });
});

const OUTCOME_CASES: readonly RuleCase[] = (
  [
    ['a release without a deadline for sending', 'queued', 'released', '', 'payouts_send_deadline'],
    ['a failure without a reason', 'released', 'failed', '', 'payouts_failure'],
    ['a success without a receipt', 'released', 'succeeded', '', 'payouts_receipt'],
    ['a rejection without a reason', 'queued', 'rejected', 'decided_by = created_by', 'payouts_rejection'],
    [
      'an empty reason for the rejection',
      'queued',
      'rejected',
      "decided_by = created_by, rejection_reason = ''",
      'payouts_rejection_reason_check',
    ],
    ['a rejection by nobody', 'queued', 'rejected', "rejection_reason = 'wrong person'", 'payouts_decided'],
    ['a cancellation by nobody', 'queued', 'cancelled', '', 'payouts_decided'],
    ['an expiry by somebody', 'queued', 'expired', 'decided_by = created_by', 'payouts_decided'],
    ['a return of a part', 'succeeded', 'reversed', 'amount_reversed_minor = 1', 'payouts_reversed_amount'],
  ] as const
).map(([what, from, to, assignments, constraint]) => ({
  what: `${what} of a payout`,
  breaks: (fixture) => [...approveIf(fixture, from === 'queued'), move(fixture.payouts[from], to, assignments)],
  by: { constraint },
}));

function approveIf(fixture: RuleFixture, isQueued: boolean): Sql[] {
  return isQueued ? [insert(fixture, 'payout_approvals')] : [];
}

const DECISION_CASES: readonly RuleCase[] = [
  {
    what: 'a state of a payout that there is not',
    breaks: ({ payouts }) => [
      { text: "INSERT INTO payout_transitions VALUES ('queued', 'paid')", values: [] },
      move(payouts.queued, 'paid'),
    ],
    by: { constraint: 'payouts_known_state' },
  },
  {
    what: 'a cancellation by another than the maker',
    breaks: ({ payouts, approverId }) => [move(payouts.queued, 'cancelled', `decided_by = '${approverId}'`)],
    by: { constraint: 'payouts_cancelled_by_maker' },
  },
  {
    what: 'a decision by who is no member',
    breaks: ({ payouts, otherMemberId }) => [
      move(payouts.queued, 'rejected', `rejection_reason = 'no', decided_by = '${otherMemberId}'`),
    ],
    by: { constraint: 'payouts_merchant_id_decided_by_fkey' },
  },
];

const RELEASE = ['released', 'send_deadline_at = now()'] as const;

/** What somebody with the roles of an owner could do to the members. */
function changeMember({ merchantId }: RuleFixture, userId: string, assignments: string): Sql {
  const text = `UPDATE members SET ${assignments} WHERE merchant_id = $1 AND user_id = $2`;
  return { text, values: [merchantId, userId] };
}

const RELEASE_CASES: readonly RuleCase[] = [
  {
    what: 'a release without an approval',
    breaks: ({ payouts }) => [move(payouts.queued, ...RELEASE)],
    by: { says: /lacks approvals/ },
  },
  {
    what: 'a release by one where two are needed',
    breaks: (fixture) => [
      insert(fixture, 'payout_approvals'),
      update('payouts', fixture.payouts.queued, 'approvals_required = 2'),
      move(fixture.payouts.queued, ...RELEASE),
    ],
    by: { says: /lacks approvals/ },
  },
  {
    what: 'a release by who approved and was removed since',
    breaks: (fixture) => [
      insert(fixture, 'payout_approvals'),
      changeMember(fixture, fixture.approverId, 'removed_at = now()'),
      move(fixture.payouts.queued, ...RELEASE),
    ],
    by: { says: /lacks approvals/ },
  },
  {
    what: 'a release by who approved and lost the role since',
    breaks: (fixture) => [
      insert(fixture, 'payout_approvals'),
      changeMember(fixture, fixture.approverId, "roles = ARRAY['maker']"),
      move(fixture.payouts.queued, ...RELEASE),
    ],
    by: { says: /lacks approvals/ },
  },
];

const approvalBy =
  (who: 'makerId' | 'developerId' | 'otherMemberId') =>
  (fixture: RuleFixture): Sql[] => [insert(fixture, 'payout_approvals', { user_id: fixture[who] })];

const APPROVAL_CASES: readonly RuleCase[] = [
  {
    what: 'an approval by who made the payout',
    breaks: approvalBy('makerId'),
    by: { says: /cannot be approved by who made it/ },
  },
  {
    what: 'an approval by the maker as an owner too',
    breaks: (fixture) => [
      changeMember(fixture, fixture.makerId, "roles = ARRAY['owner']"),
      ...approvalBy('makerId')(fixture),
    ],
    by: { says: /cannot be approved by who made it/ },
  },
  {
    what: 'an approval by a member who is no approver',
    breaks: approvalBy('developerId'),
    by: { says: /can be approved by an approver only/ },
  },
  {
    what: 'an approval by an owner of another merchant',
    breaks: approvalBy('otherMemberId'),
    by: { says: /can be approved by an approver only/ },
  },
  {
    what: 'an approval by an approver who was removed',
    breaks: (fixture) => [
      changeMember(fixture, fixture.approverId, 'removed_at = now()'),
      insert(fixture, 'payout_approvals'),
    ],
    by: { says: /can be approved by an approver only/ },
  },
  ...PAYOUT_STATES.filter((state) => state !== 'queued').map((state): RuleCase => ({
    what: `an approval of a payout that is ${state}`,
    breaks: (fixture) => [
      insert(fixture, 'payout_approvals', { payout_id: fixture.payouts[state], user_id: fixture.ownerId }),
    ],
    by: { says: /is not open to approval/ },
  })),
  {
    what: 'an approval when the time is over',
    breaks: (fixture) => [insert(fixture, 'payout_approvals', { approved_at: new Date(Date.now() + 8 * 86_400_000) })],
    by: { says: /is not open to approval/ },
  },
  {
    what: 'an approval of another merchant’s payout',
    breaks: (fixture) => [insert(fixture, 'payout_approvals', { payout_id: fixture.otherPayoutId })],
    by: { says: /is not open to approval/ },
  },
  {
    what: 'an approval of a payout nobody knows, before anything else',
    breaks: (fixture) => [insert(fixture, 'payout_approvals', { payout_id: newId('pay') })],
    by: { says: /query returned no rows/ },
  },
  {
    what: 'one person’s approval twice',
    breaks: (fixture) => [insert(fixture, 'payout_approvals'), insert(fixture, 'payout_approvals')],
    by: { constraint: 'payout_approvals_pkey' },
  },
  ...(
    [
      ['payout_id', newId('pay'), 'payout_approvals_payout_id_fkey'],
      ['user_id', newId('usr'), 'payout_approvals_merchant_id_user_id_fkey'],
    ] as const
  ).map(([column, value, constraint]): RuleCase => ({
    what: `an approval with a ${column} that nobody has, even where no trigger speaks`,
    breaks: (fixture) => [
      { text: 'ALTER TABLE payout_approvals DISABLE TRIGGER payout_approvals_check', values: [] },
      insert(fixture, 'payout_approvals', { [column]: value }),
    ],
    by: { constraint },
  })),
  ...keptForEver('payout_approvals', ['UPDATE', 'DELETE', 'TRUNCATE'], 'payout_id'),
];

export const PAYOUT_RULE_CASES: readonly RuleCase[] = [
  ...PAYOUT_ROW_CASES,
  ...PAYOUT_CHANGE_CASES,
  ...TRANSITION_CASES,
  ...OUTCOME_CASES,
  ...DECISION_CASES,
  ...RELEASE_CASES,
  ...APPROVAL_CASES,
];
