// Wrong rows of reversals, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { insert, move, ruleCase, update, wrongInserts } from '../rule-cases.ts';
import type { RuleCase, RuleFixture, Sql } from '../rule-cases.ts';
import {
  NEVER_SENT,
  requestedFieldCases,
  requestStaysCases,
  SEND_REFUSED,
  sendCases,
  SENT_NOW,
  outcomeStaysCases,
  approvalCases,
} from './any-payment-rule-cases.ts';

const REQUESTED_FIELDS: readonly string[] = [
  `id = '${newId('rev')}'`,
  `collection_id = '${newId('col')}'`,
  `operator_reference = '${randomUUID()}'`,
  `created_by = '${newId('usr')}'`,
  "created_at = created_at - interval '1 day'",
  "expires_at = expires_at + interval '1 day'",
];

const ATTESTED = `release_attestation = '${'a'.repeat(43)}'`;
const FAILURE_ATTESTED = `status_attestation = '1.${'a'.repeat(43)}'`;
const DECLINED = "status_kind = 'declined', status_queried_at = now()";
const REFUSED = "failure_code = 'operator_rejected', failed_by = 'declined'";
const RELEASE = `state = 'released', previous_state = state, version = version + 1, send_deadline_at = now() + interval '5 minutes'`;
const UNATTESTED = /a release of .* has an attestation, which changes with the release alone/;

/** The UPDATE that an owner could cause. */
function changeMember({ merchantId }: RuleFixture, userId: string, assignments: string): Sql {
  const text = `UPDATE members SET ${assignments} WHERE merchant_id = $1 AND user_id = $2`;
  return { text, values: [merchantId, userId] };
}

/** A release of the queued reversal, after these statements. */
const releases =
  (before: (fixture: RuleFixture) => readonly Sql[], assignments = `${RELEASE}, ${ATTESTED}`): RuleCase['breaks'] =>
  (fixture) => [...before(fixture), update('payments', fixture.reversals.queued, assignments)];
const approved = (fixture: RuleFixture): Sql[] => [insert(fixture, 'reversal_approvals')];

const RELEASE_CASES: readonly RuleCase[] = [
  ruleCase(
    'a release of a refund without an approval',
    /reversal .* lacks approvals/,
    releases(() => []),
  ),
  ruleCase(
    'a release of a refund with one approval where two are needed',
    /reversal .* lacks approvals/,
    releases((fixture) => [
      ...approved(fixture),
      update('payments', fixture.reversals.queued, 'approvals_required = 2'),
    ]),
  ),
  ruleCase(
    'a release of a refund whose approver was removed after the approval',
    /reversal .* lacks approvals/,
    releases((fixture) => [...approved(fixture), changeMember(fixture, fixture.approverId, 'removed_at = now()')]),
  ),
  ruleCase(
    'a release of a refund whose approver lost the role after the approval',
    /reversal .* lacks approvals/,
    releases((fixture) => [...approved(fixture), changeMember(fixture, fixture.approverId, "roles = ARRAY['maker']")]),
  ),
  ruleCase(
    'a release of a refund whose collection the operator returned',
    /cannot be released: its collection is not paid/,
    releases((fixture) => [
      ...approved(fixture),
      {
        text: `UPDATE payments SET state = 'reversed', previous_state = state, version = version + 1,
                 amount_reversed_minor = amount_minor
               WHERE id = (SELECT collection_id FROM payments WHERE id = $1)`,
        values: [fixture.reversals.queued],
      },
    ]),
  ),
  ruleCase('a release of a refund without an attestation', UNATTESTED, releases(approved, RELEASE)),
  ruleCase(
    'a release of a refund with an attestation that is no MAC',
    'payments_release_attestation_check',
    releases(approved, `${RELEASE}, release_attestation = 'forged'`),
  ),
  ruleCase(
    'a released refund without a send deadline',
    'payments_send_deadline',
    releases(approved, `state = 'released', previous_state = state, version = version + 1, ${ATTESTED}`),
  ),
  ruleCase('an attestation of a refund that was never released', UNATTESTED, (fixture) => [
    insert(fixture, 'reversals', { release_attestation: 'a'.repeat(43) }),
  ]),
  ...[ATTESTED, 'release_attestation = NULL'].map((assignment) =>
    ruleCase(`to set ${assignment} of a refund that is released`, UNATTESTED, ({ reversals }: RuleFixture) => [
      update('payments', reversals.released, assignment),
    ]),
  ),
];

const DECISION_CASES: readonly RuleCase[] = [
  ruleCase('a rejected refund without a reason', 'payments_rejection', ({ reversals, approverId }) => [
    move(reversals.queued, 'rejected', `decided_by = '${approverId}'`),
  ]),
  ruleCase('a rejected refund with an empty reason', 'payments_rejection_reason_check', ({ reversals, approverId }) => [
    move(reversals.queued, 'rejected', `decided_by = '${approverId}', rejection_reason = ''`),
  ]),
  ruleCase('a rejected refund without a deciding person', 'payments_decided', ({ reversals }) => [
    move(reversals.queued, 'rejected', "rejection_reason = 'no'"),
  ]),
  ruleCase('an expired refund with a deciding person', 'payments_decided', ({ reversals, approverId }) => [
    move(reversals.queued, 'expired', `decided_by = '${approverId}'`),
  ]),
  ruleCase(
    'a cancellation of a refund by another person than its maker',
    'payments_cancelled_by_maker',
    ({ reversals, approverId }) => [move(reversals.queued, 'cancelled', `decided_by = '${approverId}'`)],
  ),
  ruleCase(
    'a decision on a refund by a person who is not a member',
    'payments_merchant_id_decided_by_fkey',
    ({ reversals, otherMemberId }) => [
      move(reversals.queued, 'rejected', `rejection_reason = 'no', decided_by = '${otherMemberId}'`),
    ],
  ),
  ruleCase('to lower the number of approvals that a refund needs', /cannot need fewer approvals/, ({ reversals }) => [
    update('payments', reversals.queued, 'approvals_required = 2'),
    update('payments', reversals.queued, 'approvals_required = 1'),
  ]),
  ...outcomeStaysCases('refund', ({ reversals }, state) => reversals[state], [
    ['queued', "rejection_reason = 'no'"],
    ['queued', 'send_deadline_at = now()'],
    ['released', "send_deadline_at = send_deadline_at + interval '1 hour'"],
    ['released', 'decided_by = created_by'],
    ['failed', "failure_code = 'unknown'"],
  ]),
  ruleCase('another send deadline of a refund with its outcome', /is set by its release/, ({ reversals }) => [
    move(reversals.released, 'reconciling', "send_deadline_at = now() + interval '1 day'"),
  ]),
];

const NOT_OF_ITS_COLLECTION = /is not of its whole collection, or the collection belongs to another merchant/;
const UNFAILED = `failure_code = NULL, failed_by = NULL, status_kind = NULL, status_queried_at = NULL, status_attestation = NULL`;
const NOT_QUEUED = /reversal .* is not queued, has expired or belongs to another merchant/;

const APPROVAL_CASES: readonly RuleCase[] = [
  ...approvalCases('refund'),
  ruleCase(
    'an approval of a refund by the person who requested it',
    /cannot be approved by the person who created it/,
    (fixture) => [
      changeMember(fixture, fixture.makerId, "roles = ARRAY['owner']"),
      insert(fixture, 'reversal_approvals', { user_id: fixture.makerId }),
    ],
  ),
  ruleCase('an approval of a refund that is released', NOT_QUEUED, (fixture) => [
    insert(fixture, 'reversal_approvals', { payment_id: fixture.reversals.released, user_id: fixture.ownerId }),
  ]),
  ruleCase('an approval of a refund in the name of another merchant', NOT_QUEUED, (fixture) => [
    insert(fixture, 'reversal_approvals', { merchant_id: fixture.otherMerchantId, user_id: fixture.otherMemberId }),
  ]),
  ruleCase('an attestation of an approval of a refund that is no MAC', 'approvals_attestation_check', (fixture) => [
    insert(fixture, 'reversal_approvals', { attestation: 'forged' }),
  ]),
];

export const REVERSAL_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('reversals', [
    ['an id of the wrong format', { id: 'rev_1' }, 'payments_id_check'],
    ['an idempotency key', { idempotency_key: 'refund-1' }, 'payments_columns_of_refunds'],
    ['a name of a payee', { payee_name: 'Jane Nakato' }, 'payments_columns_of_refunds'],
    ['no number of approvals', { approvals_required: null }, 'payments_columns_of_refunds'],
    ['a receipt', { operator_receipt: '42' }, 'payments_receipt'],
    ['the id of a payout', () => ({ id: newId('pay') }), 'payments_id_of_kind'],
    ['three required approvals', { approvals_required: 3 }, 'payments_approvals_required_check'],
    ['a failure code without a failure', { failure_code: 'unknown' }, 'payments_failure'],
    [
      'a requester who is not a member',
      ({ otherMemberId }) => ({ created_by: otherMemberId }),
      'payments_merchant_id_created_by_fkey',
    ],
    [
      'a second reversal beside one that is pending',
      ({ collections }) => ({ collection_id: collections.succeeded, amount_minor: 5000 }),
      'payments_one_refund_at_a_time',
    ],
    ['an id that exists already', ({ reversals }) => ({ id: reversals.failed }), 'payments_pkey'],
  ]),
  ruleCase('a second reversal after one that succeeded', 'payments_one_refund_at_a_time', (fixture) => [
    move(fixture.reversals.released, 'succeeded'),
    insert(fixture, 'reversals', { collection_id: fixture.collections.succeeded, amount_minor: 5000 }),
  ]),
  ruleCase('one operator reference for two reversals', 'payments_operator_reference_key', (fixture) => {
    const reference = { operator_reference: randomUUID() };
    return [
      insert(fixture, 'reversals', reference),
      insert(fixture, 'reversals', { ...reference, collection_id: fixture.collections.failed, amount_minor: 5000 }),
    ];
  }),
  ruleCase('a reversal that is created in a later state', /must be created in state queued/, (fixture) => [
    insert(fixture, 'reversals', {
      state: 'released',
      version: 1,
      previous_state: 'queued',
      send_deadline_at: new Date(),
    }),
  ]),
  ...(
    [
      [
        'another merchant’s collection',
        ({ otherCollectionId }) => ({ collection_id: otherCollectionId, amount_minor: 5000 }),
      ],
      ['no collection', () => ({ collection_id: newId('col') })],
      ['a payout', ({ payouts }) => ({ collection_id: payouts.succeeded, amount_minor: 1000, reference: 'SAL-1' })],
      ['a part of a collection', () => ({ amount_minor: 99_999 })],
      ['a collection at another operator', () => ({ operator: 'other' })],
      ['a collection to another phone', () => ({ phone: '256772000101' })],
      ['a collection under another reference', () => ({ reference: 'INV-2' })],
      ['a collection, for another merchant', () => ({ merchant_id: newId('mer') })],
    ] as const satisfies readonly (readonly [string, (fixture: RuleFixture) => object])[]
  ).map(([what, columns]: readonly [string, (fixture: RuleFixture) => Readonly<Record<string, unknown>>]) =>
    ruleCase(`a reversal of ${what}`, NOT_OF_ITS_COLLECTION, (fixture) => [
      insert(fixture, 'reversals', columns(fixture)),
    ]),
  ),
  ruleCase('a reversal in an unknown state', 'payments_transition', ({ reversals }) => [
    move(reversals.released, 'paid'),
  ]),
  ...['paid', 'reversed'].map((state) =>
    ruleCase(`a transition of reversals to ${state}`, 'payment_transitions_known_state', () => [
      { text: "INSERT INTO payment_transitions VALUES ('reversal', 'released', $1)", values: [state] },
    ]),
  ),
  ruleCase('a refund that was sent and fails as never sent', 'payments_never_sent', ({ reversals }) => [
    update('payments', reversals.released, SENT_NOW),
    move(reversals.released, 'failed', `${NEVER_SENT}, ${FAILURE_ATTESTED}`),
  ]),
  ruleCase('a send of a refund that failed', SEND_REFUSED, ({ reversals }) => [
    update('payments', reversals.failed, SENT_NOW),
  ]),
  ...sendCases('reversal', ({ reversals }) => reversals.released, 'send_deadline_at'),
  ruleCase('a failed reversal without a failure code', 'payments_failure', ({ reversals }) => [
    move(reversals.released, 'failed', `failed_by = 'declined', ${DECLINED}, ${FAILURE_ATTESTED}`),
  ]),
  ruleCase('a refund that fails without an attestation', 'payments_attested', ({ reversals }) => [
    move(reversals.released, 'failed', `${REFUSED}, ${DECLINED}`),
  ]),
  ...[
    ['by no status', ''],
    ['by a status that says paid', ", status_kind = 'paid', status_queried_at = now()"],
    ['by a status that nobody queried', ", status_kind = 'declined'"],
  ].map(([what = '', assignment = '']) =>
    ruleCase(
      `a refund that the operator refused ${what}`,
      /has the status of an operator that made it fail/,
      ({ reversals }) => [move(reversals.released, 'failed', `${REFUSED}, ${FAILURE_ATTESTED}${assignment}`)],
    ),
  ),
  ...requestStaysCases('reversal', ({ reversals }) => reversals.released),
  ...requestedFieldCases('reversal', ({ reversals }) => reversals.released, REQUESTED_FIELDS),
  ...['queued', 'reconciling', 'succeeded'].map((state): RuleCase =>
    ruleCase(
      `to move a reversal from failed to ${state}`,
      state === 'queued' ? 'payments_created_in_first_state' : 'payments_transition',
      ({ reversals }) => [
        // Otherwise it would be a second pending refund of its collection.
        move(reversals.released, 'failed', `${REFUSED}, ${DECLINED}, ${FAILURE_ATTESTED}`),
        move(reversals.failed, state, state === 'queued' ? `${UNFAILED}, send_deadline_at = NULL` : UNFAILED),
      ],
    ),
  ),
  ruleCase('to move a reversal from reconciling back to released', 'payments_transition', ({ reversals }) => [
    { text: 'ALTER TABLE payments DISABLE TRIGGER payments_check_change', values: [] },
    move(reversals.released, 'reconciling'),
    move(reversals.released, 'released'),
  ]),
  ruleCase(
    'a reversal that succeeded while its collection is not reversed',
    /succeeded but its collection is not reversed/,
    ({ reversals }) => [move(reversals.released, 'succeeded')],
  ),
  ...RELEASE_CASES,
  ...DECISION_CASES,
  ...APPROVAL_CASES,
];
