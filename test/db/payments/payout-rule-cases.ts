// Wrong rows of payouts and their approvals, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS } from '../../../src/domain/payments/payout.ts';
import { insert, move, refusedChanges, ruleCase, twoRows, update, wrongInserts } from '../rule-cases.ts';
import type { RuleCase, RuleFixture, Sql } from '../rule-cases.ts';
import {
  illegalMoves,
  NEVER_SENT,
  PAYMENT_FIELDS,
  requestedFieldCases,
  requestStaysCases,
  SEND_REFUSED,
  sendCases,
  SENT_NOW,
  wrongPaymentColumns,
  outcomeStaysCases,
  approvalCases,
} from './any-payment-rule-cases.ts';

const PAYOUT_ROW_CASES: readonly RuleCase[] = [
  ...wrongPaymentColumns('payouts'),
  ...wrongInserts('payouts', [
    ['an id that exists already', ({ payouts }) => ({ id: payouts.queued }), 'payments_pkey'],
    ['a version above zero in the first state', { version: 1 }, 'payments_created_in_first_state'],
    ['a previous state in the first state', { previous_state: 'released' }, 'payments_created_in_first_state'],
    ['an empty receipt', { operator_receipt: '' }, 'payments_operator_receipt_check'],
    ['a rejection reason without a rejection', { rejection_reason: 'wrong person' }, 'payments_rejection'],
    ['a deciding person without a decision', ({ approverId }) => ({ decided_by: approverId }), 'payments_decided'],
    ['a send deadline before the release', { send_deadline_at: new Date() }, 'payments_send_deadline'],
    ['zero required approvals', { approvals_required: 0 }, 'payments_approvals_required_check'],
    ['three required approvals', { approvals_required: 3 }, 'payments_approvals_required_check'],
    [
      'a maker who is not a member',
      ({ otherMemberId }) => ({ created_by: otherMemberId }),
      'payments_merchant_id_created_by_fkey',
    ],
  ]),
  ...wrongInserts('payouts', [
    [
      'a collection that it gives back',
      ({ collections }) => ({ collection_id: collections.succeeded }),
      'payments_columns_of_payouts',
    ],
    ['no idempotency key', { idempotency_key: null }, 'payments_columns_of_payouts'],
    ['an empty name of the payee', { payee_name: '' }, 'payments_payee_name_check'],
    ['a name of the payee that is too long', { payee_name: 'x'.repeat(101) }, 'payments_payee_name_check'],
    ['no number of approvals', { approvals_required: null }, 'payments_columns_of_payouts'],
    ['the id of a collection', () => ({ id: newId('col') }), 'payments_id_of_kind'],
  ]),
  ruleCase('a payout that was sent and fails as never sent', 'payments_never_sent', ({ payouts }) => [
    update('payments', payouts.released, SENT_NOW),
    move(payouts.released, 'failed', NEVER_SENT),
  ]),
  ruleCase('a send of a payout that failed as never sent', SEND_REFUSED, ({ payouts }) => [
    move(payouts.released, 'failed', NEVER_SENT),
    update('payments', payouts.released, SENT_NOW),
  ]),
  ruleCase('a send of a payout that is queued', SEND_REFUSED, ({ payouts }) => [
    update('payments', payouts.queued, SENT_NOW),
  ]),
  ...sendCases('payout', ({ payouts }) => payouts.released, 'send_deadline_at'),
  ruleCase('to clear send_begun_at of a payout', SEND_REFUSED, ({ payouts }) => [
    update('payments', payouts.released, SENT_NOW),
    update('payments', payouts.released, 'send_begun_at = NULL'),
  ]),
  ruleCase('to clear accepted_at of a payout', /accepted_at of .* cannot be cleared/, ({ payouts }) => [
    update('payments', payouts.released, 'accepted_at = now()'),
    update('payments', payouts.released, 'accepted_at = NULL'),
  ]),
  ruleCase('a payout of an unknown API key', /created by no API key of its merchant/, (fixture) => [
    insert(fixture, 'payouts', { api_key_id: newId('key') }),
  ]),
  ruleCase(
    'a payout that is created with an API key of another merchant',
    /created by no API key of its merchant/,
    (fixture) => {
      const id = newId('key');
      return [
        insert(fixture, 'api_keys', { id, merchant_id: fixture.otherMerchantId, created_by: null }),
        insert(fixture, 'payouts', { api_key_id: id }),
      ];
    },
  ),
  twoRows('one operator reference for two payouts', 'payments_operator_reference_key', 'payouts', {
    operator_reference: randomUUID(),
  }),
  twoRows('two pending payouts for one idempotency key', 'payments_one_payout_pending_per_key', 'payouts', {
    idempotency_key: 'salary-1',
  }),
  ruleCase('a payout that is created in a later state', /must be created in state queued/, (fixture) => [
    insert(fixture, 'payouts', {
      state: 'released',
      version: 1,
      previous_state: 'queued',
      send_deadline_at: new Date(),
    }),
  ]),
];

const REQUESTED_FIELDS: readonly string[] = [
  ...PAYMENT_FIELDS,
  `id = '${newId('pay')}'`,
  `created_by = '${newId('usr')}'`,
  `api_key_id = '${newId('key')}'`,
  "expires_at = expires_at + interval '1 day'",
];

const PAYOUT_CHANGE_CASES: readonly RuleCase[] = [
  ...requestStaysCases('payout', ({ payouts }) => payouts.queued),
  ...requestedFieldCases('payout', ({ payouts }) => payouts.queued, REQUESTED_FIELDS),
  ruleCase('to lower the number of approvals that a payout needs', /cannot need fewer approvals/, ({ payouts }) => [
    update('payments', payouts.queued, 'approvals_required = 2'),
    update('payments', payouts.queued, 'approvals_required = 1'),
  ]),
  ...outcomeStaysCases('payout', ({ payouts }, state) => payouts[state], [
    ['queued', 'version = version + 1'],
    ['released', "previous_state = 'reconciling'"],
    ['released', "send_deadline_at = send_deadline_at + interval '1 hour'"],
    ['failed', "failure_code = 'unknown'"],
    ['succeeded', "operator_receipt = '43'"],
    ['rejected', "rejection_reason = 'another'"],
    ['rejected', 'decided_by = created_by'],
  ]),
  ruleCase('a state change of a payout that does not count up the version', /must count up version/, ({ payouts }) => [
    update('payments', payouts.queued, "state = 'expired', previous_state = state"),
  ]),
  ruleCase(
    'a state change of a payout that names another previous state',
    /set previous_state to the old state/,
    ({ payouts }) => [
      update('payments', payouts.released, "state = 'reconciling', version = version + 1, previous_state = 'queued'"),
    ],
  ),
];

/** The columns that each state needs; without them another rule would refuse the row first. */
const STATE_COLUMNS: Readonly<Record<string, string>> = {
  queued: 'send_deadline_at = NULL',
  released: 'send_deadline_at = now()',
  reconciling: 'send_deadline_at = now()',
  succeeded: "send_deadline_at = now(), operator_receipt = '42'",
  failed: "send_deadline_at = now(), failure_code = 'unknown', failed_by = 'declined'",
  rejected: "rejection_reason = 'wrong person', decided_by = created_by",
  cancelled: 'decided_by = created_by',
  expired: '',
  reversed: "send_deadline_at = now(), operator_receipt = '42', amount_reversed_minor = amount_minor",
};
const CLEARED_COLUMNS = [
  'send_deadline_at',
  'operator_receipt',
  'failure_code',
  'failed_by',
  'rejection_reason',
  'decided_by',
] as const;
/** The columns of one state, with those of every other state cleared. */
function columnsOf(state: string): string {
  const own = STATE_COLUMNS[state] ?? '';
  const cleared = CLEARED_COLUMNS.filter((name) => !own.includes(name)).map((name) => `${name} = NULL`);
  return [own, ...cleared, ...(state === 'reversed' ? [] : ['amount_reversed_minor = 0'])].filter(Boolean).join(', ');
}

const TRANSITION_CASES: readonly RuleCase[] = illegalMoves(PAYOUT_TRANSITIONS).map(([from, to]) => {
  const constraint = to === 'queued' ? 'payments_created_in_first_state' : 'payments_transition';
  return {
    what: `to move a payout from ${from} to ${to}`,
    breaks: ({ payouts }) => [move(payouts[from], to, columnsOf(to))],
    by: to === 'released' ? { says: /lacks approvals|payments_transition/ } : { constraint },
  };
});

const OUTCOME_CASES: readonly RuleCase[] = (
  [
    ['a failed payout without a failure code', 'released', 'failed', "failed_by = 'declined'", 'payments_failure'],
    ['a payout that succeeded without a receipt', 'released', 'succeeded', '', 'payments_receipt'],
    ['a rejected payout without a reason', 'queued', 'rejected', 'decided_by = created_by', 'payments_rejection'],
    [
      'a rejected payout with an empty reason',
      'queued',
      'rejected',
      "decided_by = created_by, rejection_reason = ''",
      'payments_rejection_reason_check',
    ],
    [
      'a rejected payout without a deciding person',
      'queued',
      'rejected',
      "rejection_reason = 'wrong person'",
      'payments_decided',
    ],
    ['a cancelled payout without a deciding person', 'queued', 'cancelled', '', 'payments_decided'],
    ['an expired payout with a deciding person', 'queued', 'expired', 'decided_by = created_by', 'payments_decided'],
    [
      'a return of a part of a payout',
      'succeeded',
      'reversed',
      'amount_reversed_minor = 1',
      'payments_reversed_amount',
    ],
  ] as const
).map(([what, from, to, assignments, constraint]) =>
  ruleCase(what, constraint, (fixture) => [
    ...approveIf(fixture, from === 'queued'),
    move(fixture.payouts[from], to, assignments),
  ]),
);

function approveIf(fixture: RuleFixture, isQueued: boolean): Sql[] {
  return isQueued ? [insert(fixture, 'payout_approvals')] : [];
}

const DECISION_CASES: readonly RuleCase[] = [
  ruleCase('a payout in an unknown state', 'payments_transition', ({ payouts }) => [
    move(payouts.queued, 'paid', 'send_deadline_at = now()'),
  ]),
  ruleCase('a transition of payouts to an unknown state', 'payment_transitions_known_state', () => [
    { text: "INSERT INTO payment_transitions VALUES ('payout', 'queued', 'paid')", values: [] },
  ]),
  ruleCase(
    'a payout that is created with a status of the operator',
    /no operator said anything of the new payout/,
    (fixture) => [
      insert(fixture, 'payouts', { not_found_count: 1, not_found_since: new Date(), not_found_last_at: new Date() }),
    ],
  ),
  ruleCase(
    'a cancellation by another person than the maker',
    'payments_cancelled_by_maker',
    ({ payouts, approverId }) => [move(payouts.queued, 'cancelled', `decided_by = '${approverId}'`)],
  ),
  ruleCase('a cancellation of a payout that somebody tried to send', 'payments_cancelled_unsent', ({ payouts }) => [
    update('payments', payouts.released, "send_begun_at = send_deadline_at - interval '1 s'"),
    move(payouts.released, 'cancelled', 'decided_by = created_by'),
  ]),
  ruleCase('a cancellation that takes back that a payout was released', 'payments_send_deadline', ({ payouts }) => [
    move(payouts.released, 'cancelled', 'decided_by = created_by, send_deadline_at = NULL'),
  ]),
  ruleCase(
    'a decision by a person who is not a member',
    'payments_merchant_id_decided_by_fkey',
    ({ payouts, otherMemberId }) => [
      move(payouts.queued, 'rejected', `rejection_reason = 'no', decided_by = '${otherMemberId}'`),
    ],
  ),
];

const ATTESTED = `release_attestation = '${'a'.repeat(43)}'`;
const RELEASE = ['released', `send_deadline_at = now(), ${ATTESTED}`] as const;

/** The UPDATE that an owner could cause. */
function changeMember({ merchantId }: RuleFixture, userId: string, assignments: string): Sql {
  const text = `UPDATE members SET ${assignments} WHERE merchant_id = $1 AND user_id = $2`;
  return { text, values: [merchantId, userId] };
}

const RELEASE_CASES: readonly RuleCase[] = [
  ruleCase('a release without an approval', /lacks approvals/, ({ payouts }) => [move(payouts.queued, ...RELEASE)]),
  ruleCase('a release with one approval where two are needed', /lacks approvals/, (fixture) => [
    insert(fixture, 'payout_approvals'),
    update('payments', fixture.payouts.queued, 'approvals_required = 2'),
    move(fixture.payouts.queued, ...RELEASE),
  ]),
  ruleCase('a release whose approver was removed after the approval', /lacks approvals/, (fixture) => [
    insert(fixture, 'payout_approvals'),
    changeMember(fixture, fixture.approverId, 'removed_at = now()'),
    move(fixture.payouts.queued, ...RELEASE),
  ]),
  ruleCase('a release whose approver lost the role after the approval', /lacks approvals/, (fixture) => [
    insert(fixture, 'payout_approvals'),
    changeMember(fixture, fixture.approverId, "roles = ARRAY['maker']"),
    move(fixture.payouts.queued, ...RELEASE),
  ]),
];

const UNATTESTED = /a release of .* has an attestation, which changes with the release alone/;

const ATTESTATION_CASES: readonly RuleCase[] = [
  ruleCase('an approval without an attestation', /null value in column "attestation"/, (fixture) => [
    insert(fixture, 'payout_approvals', { attestation: null }),
  ]),
  ...wrongInserts('payout_approvals', [
    ['an attestation that is no MAC', { attestation: 'forged' }, 'approvals_attestation_check'],
  ]),
  ruleCase('a release without an attestation', UNATTESTED, (fixture) => [
    insert(fixture, 'payout_approvals'),
    move(fixture.payouts.queued, 'released', 'send_deadline_at = now()'),
  ]),
  ruleCase('a release with an attestation that is no MAC', 'payments_release_attestation_check', (fixture) => [
    insert(fixture, 'payout_approvals'),
    move(fixture.payouts.queued, 'released', "send_deadline_at = now(), release_attestation = 'forged'"),
  ]),
  ...[ATTESTED, 'release_attestation = NULL'].map((assignment) =>
    ruleCase(`to set ${assignment} of a payout that is released`, UNATTESTED, ({ payouts }: RuleFixture) => [
      update('payments', payouts.released, assignment),
    ]),
  ),
  ruleCase('to attest a release while its outcome is recorded', UNATTESTED, ({ payouts }) => [
    move(payouts.released, 'reconciling', ATTESTED),
  ]),
  ruleCase('a released payout without a send deadline', 'payments_send_deadline', (fixture) => [
    insert(fixture, 'payout_approvals'),
    move(fixture.payouts.queued, 'released', ATTESTED),
  ]),
  ruleCase('an attestation of a release that was never made', UNATTESTED, (fixture) => [
    insert(fixture, 'payouts', { release_attestation: 'a'.repeat(43) }),
  ]),
];

const approvalByMaker = (fixture: RuleFixture): Sql =>
  insert(fixture, 'payout_approvals', { user_id: fixture.makerId });

const APPROVAL_CASES: readonly RuleCase[] = [
  ...approvalCases('payout'),
  ruleCase(
    'an approval by the person who created the payout',
    /cannot be approved by the person who created it/,
    (fixture) => [approvalByMaker(fixture)],
  ),
  ruleCase(
    'an approval by the maker who is an owner too',
    /cannot be approved by the person who created it/,
    (fixture) => [changeMember(fixture, fixture.makerId, "roles = ARRAY['owner']"), approvalByMaker(fixture)],
  ),
  ruleCase(
    'an approval by an approver who was removed',
    /can be approved only by an owner or an approver/,
    (fixture) => [changeMember(fixture, fixture.approverId, 'removed_at = now()'), insert(fixture, 'payout_approvals')],
  ),
  ...PAYOUT_STATES.filter((state) => state !== 'queued').map((state): RuleCase =>
    ruleCase(
      `an approval of a payout that is ${state}`,
      /is not queued, has expired or belongs to another merchant/,
      (fixture) => [
        insert(fixture, 'payout_approvals', { payment_id: fixture.payouts[state], user_id: fixture.ownerId }),
      ],
    ),
  ),
  ruleCase(
    'an approval of another merchant’s payout',
    /is not queued, has expired or belongs to another merchant/,
    (fixture) => [insert(fixture, 'payout_approvals', { payment_id: fixture.otherPayoutId })],
  ),
  ...refusedChanges('approvals', ['DELETE', 'TRUNCATE']),
];

export const PAYOUT_RULE_CASES: readonly RuleCase[] = [
  ...PAYOUT_ROW_CASES,
  ...PAYOUT_CHANGE_CASES,
  ...TRANSITION_CASES,
  ...OUTCOME_CASES,
  ...DECISION_CASES,
  ...RELEASE_CASES,
  ...ATTESTATION_CASES,
  ...APPROVAL_CASES,
];
