// Wrong rows of reversals, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import {
  insert,
  refusedChanges,
  ruleCase,
  update,
  wrongInserts,
  type RuleCase,
  type RuleFixture,
  type Sql,
} from '../rule-cases.ts';
import {
  assignedColumn,
  NEVER_SENT,
  requestedFieldCases,
  requestStaysCases,
  SEND_REFUSED,
  sendCases,
  SENT_NOW,
} from './any-payment-rule-cases.ts';

const REQUESTED_FIELDS: readonly string[] = [
  `id = '${newId('rev')}'`,
  `collection_id = '${newId('col')}'`,
  `operator_reference = '${randomUUID()}'`,
  `requested_by = '${newId('usr')}'`,
  "created_at = created_at - interval '1 day'",
  "expires_at = expires_at + interval '1 day'",
];

const ATTESTED = `release_attestation = '${'a'.repeat(43)}'`;
const FAILURE_ATTESTED = `status_attestation = '1.${'a'.repeat(43)}'`;
const DECLINED = "status_kind = 'declined', status_queried_at = now()";
const REFUSED = "failure_code = 'operator_rejected', failed_by = 'declined'";
const RELEASE = `state = 'released', send_deadline_at = now() + interval '5 minutes'`;
const UNATTESTED = /a release of .* has an attestation, which changes with the release alone/;

/** The UPDATE that an owner could cause. */
function changeMember({ merchantId }: RuleFixture, userId: string, assignments: string): Sql {
  const text = `UPDATE members SET ${assignments} WHERE merchant_id = $1 AND user_id = $2`;
  return { text, values: [merchantId, userId] };
}

/** A release of the queued reversal, after these statements. */
const releases =
  (before: (fixture: RuleFixture) => readonly Sql[], assignments = `${RELEASE}, ${ATTESTED}`): RuleCase['breaks'] =>
  (fixture) => [...before(fixture), update('reversals', fixture.reversals.queued, assignments)];
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
      update('reversals', fixture.reversals.queued, 'approvals_required = 2'),
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
        text: `UPDATE collections SET state = 'reversed', previous_state = state, version = version + 1,
                 amount_reversed_minor = amount_minor
               WHERE id = (SELECT collection_id FROM reversals WHERE id = $1)`,
        values: [fixture.reversals.queued],
      },
    ]),
  ),
  ruleCase('a release of a refund without an attestation', UNATTESTED, releases(approved, RELEASE)),
  ruleCase(
    'a release of a refund with an attestation that is no MAC',
    'reversals_release_attestation_check',
    releases(approved, `${RELEASE}, release_attestation = 'forged'`),
  ),
  ruleCase(
    'a released refund without a send deadline',
    'reversals_send_deadline',
    releases(approved, `state = 'released', ${ATTESTED}`),
  ),
  ruleCase('an attestation of a refund that was never released', UNATTESTED, (fixture) => [
    insert(fixture, 'reversals', { release_attestation: 'a'.repeat(43) }),
  ]),
  ...[ATTESTED, 'release_attestation = NULL'].map((assignment) =>
    ruleCase(`to set ${assignment} of a refund that is released`, UNATTESTED, ({ reversals }: RuleFixture) => [
      update('reversals', reversals.released, assignment),
    ]),
  ),
];

const DECISION_CASES: readonly RuleCase[] = [
  ruleCase('a rejected refund without a reason', 'reversals_rejection', ({ reversals, approverId }) => [
    update('reversals', reversals.queued, `state = 'rejected', decided_by = '${approverId}'`),
  ]),
  ruleCase(
    'a rejected refund with an empty reason',
    'reversals_rejection_reason_check',
    ({ reversals, approverId }) => [
      update('reversals', reversals.queued, `state = 'rejected', decided_by = '${approverId}', rejection_reason = ''`),
    ],
  ),
  ruleCase('a rejected refund without a deciding person', 'reversals_decided', ({ reversals }) => [
    update('reversals', reversals.queued, "state = 'rejected', rejection_reason = 'no'"),
  ]),
  ruleCase('an expired refund with a deciding person', 'reversals_decided', ({ reversals, approverId }) => [
    update('reversals', reversals.queued, `state = 'expired', decided_by = '${approverId}'`),
  ]),
  ruleCase(
    'a cancellation of a refund by another person than its maker',
    'reversals_cancelled_by_maker',
    ({ reversals, approverId }) => [
      update('reversals', reversals.queued, `state = 'cancelled', decided_by = '${approverId}'`),
    ],
  ),
  ruleCase(
    'a decision on a refund by a person who is not a member',
    'reversals_merchant_id_decided_by_fkey',
    ({ reversals, otherMemberId }) => [
      update(
        'reversals',
        reversals.queued,
        `state = 'rejected', rejection_reason = 'no', decided_by = '${otherMemberId}'`,
      ),
    ],
  ),
  ruleCase('to lower the number of approvals that a refund needs', /cannot need fewer approvals/, ({ reversals }) => [
    update('reversals', reversals.queued, 'approvals_required = 2'),
    update('reversals', reversals.queued, 'approvals_required = 1'),
  ]),
  ...(
    [
      ['queued', "rejection_reason = 'no'"],
      ['queued', 'send_deadline_at = now()'],
      ['released', "send_deadline_at = send_deadline_at + interval '1 hour'"],
      ['released', 'decided_by = requested_by'],
      ['failed', "failure_code = 'unknown'"],
    ] as const
  ).map(([state, assignment]): RuleCase =>
    ruleCase(
      `to set ${assignedColumn(assignment)} of a refund that stays ${state}`,
      /outcome of reversal .* can change only together with its state/,
      ({ reversals }) => [update('reversals', reversals[state], assignment)],
    ),
  ),
  ruleCase('another send deadline of a refund with its outcome', /is set by its release/, ({ reversals }) => [
    update('reversals', reversals.released, "state = 'reconciling', send_deadline_at = now() + interval '1 day'"),
  ]),
];

const approvalBy =
  (who: 'makerId' | 'developerId' | 'otherMemberId') =>
  (fixture: RuleFixture): Sql[] => [insert(fixture, 'reversal_approvals', { user_id: fixture[who] })];
const NOT_QUEUED = /refund .* is not queued, has expired or belongs to another merchant/;

const APPROVAL_CASES: readonly RuleCase[] = [
  ruleCase(
    'an approval of a refund by the person who requested it',
    /cannot be approved by the person who requested it/,
    (fixture) => [changeMember(fixture, fixture.makerId, "roles = ARRAY['owner']"), ...approvalBy('makerId')(fixture)],
  ),
  ruleCase(
    'an approval of a refund by a member who is not an approver',
    /refund .* can be approved only by an owner or an approver/,
    approvalBy('developerId'),
  ),
  ruleCase(
    'an approval of a refund by an owner of another merchant',
    /refund .* can be approved only by an owner or an approver/,
    approvalBy('otherMemberId'),
  ),
  ruleCase(
    'an approval of a refund beyond the daily limit of its approver',
    /approves more than the daily limit/,
    (fixture) => [
      insert(fixture, 'policies', { merchant_id: fixture.merchantId, approver_daily_limit_minor: 1 }),
      insert(fixture, 'reversal_approvals'),
    ],
  ),
  ruleCase('an approval of a refund that is released', NOT_QUEUED, (fixture) => [
    insert(fixture, 'reversal_approvals', { reversal_id: fixture.reversals.released, user_id: fixture.ownerId }),
  ]),
  ruleCase('an approval after the refund expired', NOT_QUEUED, (fixture) => [
    insert(fixture, 'reversal_approvals', { approved_at: new Date(Date.now() + 8 * 86_400_000) }),
  ]),
  ruleCase('an approval of a refund in the name of another merchant', NOT_QUEUED, (fixture) => [
    insert(fixture, 'reversal_approvals', { merchant_id: fixture.otherMerchantId, user_id: fixture.otherMemberId }),
  ]),
  ruleCase('an approval of an unknown refund', /query returned no rows/, (fixture) => [
    insert(fixture, 'reversal_approvals', { reversal_id: newId('rev') }),
  ]),
  ruleCase(
    'an attestation of an approval of a refund that is no MAC',
    'reversal_approvals_attestation_check',
    (fixture) => [insert(fixture, 'reversal_approvals', { attestation: 'forged' })],
  ),
  ...(
    [
      ['reversal_id', newId('rev'), 'reversal_approvals_reversal_id_fkey'],
      ['user_id', newId('usr'), 'reversal_approvals_merchant_id_user_id_fkey'],
    ] as const
  ).map(([column, value, constraint]): RuleCase =>
    ruleCase(`an approval of a refund with an unknown ${column}, with the trigger disabled`, constraint, (fixture) => [
      { text: 'ALTER TABLE reversal_approvals DISABLE TRIGGER reversal_approvals_check', values: [] },
      insert(fixture, 'reversal_approvals', { [column]: value }),
    ]),
  ),
  ...refusedChanges('reversal_approvals', ['DELETE', 'TRUNCATE']),
];

export const REVERSAL_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('reversals', [
    ['an id of the wrong format', { id: 'rev_1' }, 'reversals_id_check'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'reversals_merchant_id_fkey'],
    ['an unknown collection', () => ({ collection_id: newId('col') }), 'reversals_collection_id_fkey'],
    ['three required approvals', { approvals_required: 3 }, 'reversals_approvals_required_check'],
    ['a failure code without a failure', { failure_code: 'unknown' }, 'reversals_failure'],
    [
      'a requester who is not a member',
      ({ otherMemberId }) => ({ requested_by: otherMemberId }),
      'reversals_merchant_id_requested_by_fkey',
    ],
    [
      'a second reversal beside one that is pending',
      ({ collections }) => ({ collection_id: collections.succeeded }),
      'reversals_one_at_a_time',
    ],
    ['an id that exists already', ({ reversals }) => ({ id: reversals.failed }), 'reversals_pkey'],
  ]),
  ruleCase('a second reversal after one that succeeded', 'reversals_one_at_a_time', (fixture) => [
    update('reversals', fixture.reversals.released, "state = 'succeeded'"),
    insert(fixture, 'reversals', { collection_id: fixture.collections.succeeded }),
  ]),
  ruleCase('one operator reference for two reversals', 'reversals_operator_reference_key', (fixture) => {
    const reference = { operator_reference: randomUUID() };
    return [
      insert(fixture, 'reversals', reference),
      insert(fixture, 'reversals', { ...reference, collection_id: fixture.collections.failed }),
    ];
  }),
  ruleCase('a reversal that is created in a later state', /must be created in state queued/, (fixture) => [
    insert(fixture, 'reversals', { state: 'succeeded' }),
  ]),
  ruleCase(
    'a reversal of another merchant’s collection',
    /belongs to another merchant than its collection/,
    (fixture) => [insert(fixture, 'reversals', { collection_id: fixture.otherCollectionId })],
  ),
  ruleCase('a reversal in an unknown state', /cannot move from released to paid/, ({ reversals }) => [
    update('reversals', reversals.released, "state = 'paid'"),
  ]),
  ruleCase(
    'a reversal in an unknown state, even without the check of transitions',
    'reversals_state_check',
    ({ reversals }) => [
      { text: 'ALTER TABLE reversals DISABLE TRIGGER reversals_check_change', values: [] },
      update('reversals', reversals.released, "state = 'paid'"),
    ],
  ),
  ruleCase('a refund that was sent and fails as never sent', 'reversals_never_sent', ({ reversals }) => [
    update('reversals', reversals.released, SENT_NOW),
    update('reversals', reversals.released, `state = 'failed', ${NEVER_SENT}, ${FAILURE_ATTESTED}`),
  ]),
  ruleCase('a send of a refund that failed', SEND_REFUSED, ({ reversals }) => [
    update('reversals', reversals.failed, SENT_NOW),
  ]),
  ...sendCases('reversal', ({ reversals }) => reversals.released, 'send_deadline_at'),
  ruleCase('a failed reversal without a failure code', 'reversals_failure', ({ reversals }) => [
    update(
      'reversals',
      reversals.released,
      `state = 'failed', failed_by = 'declined', ${DECLINED}, ${FAILURE_ATTESTED}`,
    ),
  ]),
  ruleCase('a refund that fails without an attestation', 'reversals_attested', ({ reversals }) => [
    update('reversals', reversals.released, `state = 'failed', ${REFUSED}, ${DECLINED}`),
  ]),
  ...[
    ['by no status', ''],
    ['by a status that says paid', ", status_kind = 'paid', status_queried_at = now()"],
    ['by a status that nobody queried', ", status_kind = 'declined'"],
  ].map(([what = '', assignment = '']) =>
    ruleCase(`a refund that the operator refused ${what}`, 'reversals_status', ({ reversals }) => [
      update('reversals', reversals.released, `state = 'failed', ${REFUSED}, ${FAILURE_ATTESTED}${assignment}`),
    ]),
  ),
  ...requestStaysCases('reversal', ({ reversals }) => reversals.released),
  ...requestedFieldCases('reversal', ({ reversals }) => reversals.released, REQUESTED_FIELDS),
  ...['queued', 'reconciling', 'succeeded'].map((state): RuleCase =>
    ruleCase(
      `to move a reversal from failed to ${state}`,
      new RegExp(`cannot move from failed to ${state}`),
      ({ reversals }) => [update('reversals', reversals.failed, `state = '${state}', failure_code = NULL`)],
    ),
  ),
  ruleCase(
    'to move a reversal from reconciling back to released',
    /cannot move from reconciling to released/,
    ({ reversals }) => [
      update('reversals', reversals.released, "state = 'reconciling'"),
      update('reversals', reversals.released, "state = 'released'"),
    ],
  ),
  ruleCase(
    'a reversal that succeeded while its collection is not reversed',
    /succeeded but its collection is not reversed/,
    ({ reversals }) => [update('reversals', reversals.released, "state = 'succeeded'")],
  ),
  ...RELEASE_CASES,
  ...DECISION_CASES,
  ...APPROVAL_CASES,
  ...refusedChanges('reversals', ['DELETE', 'TRUNCATE']),
];
