// Wrong rows of reversals, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { insert, refusedChanges, ruleCase, update, wrongInserts, type RuleCase } from '../rule-cases.ts';
import { NEVER_SENT, requestedFieldCases, SEND_REFUSED, sendCases, SENT_NOW } from './any-payment-rule-cases.ts';

const REQUESTED_FIELDS: readonly string[] = [
  `id = '${newId('rev')}'`,
  `collection_id = '${newId('col')}'`,
  `operator_reference = '${randomUUID()}'`,
  `requested_by = '${newId('usr')}'`,
  "created_at = created_at - interval '1 day'",
  "send_deadline_at = send_deadline_at + interval '1 day'",
];

export const REVERSAL_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('reversals', [
    ['an id of the wrong format', { id: 'rev_1' }, 'reversals_id_check'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'reversals_merchant_id_fkey'],
    ['an unknown collection', () => ({ collection_id: newId('col') }), 'reversals_collection_id_fkey'],
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
    update('reversals', fixture.reversals.requested, "state = 'succeeded'"),
    insert(fixture, 'reversals', { collection_id: fixture.collections.succeeded }),
  ]),
  ruleCase('one operator reference for two reversals', 'reversals_operator_reference_key', (fixture) => {
    const reference = { operator_reference: randomUUID() };
    return [
      insert(fixture, 'reversals', reference),
      insert(fixture, 'reversals', { ...reference, collection_id: fixture.collections.failed }),
    ];
  }),
  ruleCase('a reversal that is created in a later state', /must be created in state requested/, (fixture) => [
    insert(fixture, 'reversals', { state: 'succeeded' }),
  ]),
  ruleCase(
    'a reversal of another merchant’s collection',
    /belongs to another merchant than its collection/,
    (fixture) => [insert(fixture, 'reversals', { collection_id: fixture.otherCollectionId })],
  ),
  ruleCase('a reversal in an unknown state', /cannot move from requested to paid/, ({ reversals }) => [
    update('reversals', reversals.requested, "state = 'paid'"),
  ]),
  ruleCase(
    'a reversal in an unknown state, even without the check of transitions',
    'reversals_state_check',
    ({ reversals }) => [
      { text: 'ALTER TABLE reversals DISABLE TRIGGER reversals_check_change', values: [] },
      update('reversals', reversals.requested, "state = 'paid'"),
    ],
  ),
  ruleCase('a refund that was sent and fails as never sent', 'reversals_never_sent', ({ reversals }) => [
    update('reversals', reversals.requested, SENT_NOW),
    update('reversals', reversals.requested, `state = 'failed', ${NEVER_SENT}`),
  ]),
  ruleCase('a send of a refund that failed', SEND_REFUSED, ({ reversals }) => [
    update('reversals', reversals.failed, SENT_NOW),
  ]),
  ...sendCases('reversal', ({ reversals }) => reversals.requested, 'send_deadline_at'),
  ruleCase('a failed reversal without a failure code', 'reversals_failure', ({ reversals }) => [
    update('reversals', reversals.requested, "state = 'failed', failed_by = 'declined'"),
  ]),
  ...requestedFieldCases('reversal', ({ reversals }) => reversals.requested, REQUESTED_FIELDS),
  ...['requested', 'reconciling', 'succeeded'].map((state): RuleCase =>
    ruleCase(
      `to move a reversal from failed to ${state}`,
      new RegExp(`cannot move from failed to ${state}`),
      ({ reversals }) => [update('reversals', reversals.failed, `state = '${state}', failure_code = NULL`)],
    ),
  ),
  ruleCase(
    'to move a reversal from reconciling back to requested',
    /cannot move from reconciling to requested/,
    ({ reversals }) => [
      update('reversals', reversals.requested, "state = 'reconciling'"),
      update('reversals', reversals.requested, "state = 'requested'"),
    ],
  ),
  ruleCase(
    'a reversal that succeeded while its collection is not reversed',
    /succeeded but its collection is not reversed/,
    ({ reversals }) => [update('reversals', reversals.requested, "state = 'succeeded'")],
  ),
  ...refusedChanges('reversals', ['DELETE', 'TRUNCATE']),
];
