// Wrong rows of reversals, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { insert, keptForEver, update, wrongInserts, type RuleCase } from '../rule-cases.ts';

const WHAT_WAS_ASKED_FOR: readonly string[] = [
  `id = '${newId('rev')}'`,
  `merchant_id = '${newId('mer')}'`,
  `collection_id = '${newId('col')}'`,
  `operator_reference = '${randomUUID()}'`,
  `requested_by = '${newId('usr')}'`,
  "created_at = created_at - interval '1 day'",
  "send_deadline_at = send_deadline_at + interval '1 day'",
];

export const REVERSAL_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('reversals', [
    ['an id of another form', { id: 'rev_1' }, 'reversals_id_check'],
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'reversals_merchant_id_fkey'],
    ['a collection nobody knows', () => ({ collection_id: newId('col') }), 'reversals_collection_id_fkey'],
    ['a failure without failing', { failure_code: 'unknown' }, 'reversals_failure'],
    [
      'who asks without being a member',
      ({ otherMemberId }) => ({ requested_by: otherMemberId }),
      'reversals_merchant_id_requested_by_fkey',
    ],
    [
      'a second one while the first is under way',
      ({ collections }) => ({ collection_id: collections.succeeded }),
      'reversals_one_at_a_time',
    ],
    ['the same reversal twice', ({ reversals }) => ({ id: reversals.failed }), 'reversals_pkey'],
  ]),
  {
    what: 'a second reversal after one that succeeded',
    breaks: (fixture) => [
      update('reversals', fixture.reversals.requested, "state = 'succeeded'"),
      insert(fixture, 'reversals', { collection_id: fixture.collections.succeeded }),
    ],
    by: { constraint: 'reversals_one_at_a_time' },
  },
  {
    what: 'one operator reference for two reversals',
    breaks: (fixture) => {
      const reference = { operator_reference: randomUUID() };
      return [
        insert(fixture, 'reversals', reference),
        insert(fixture, 'reversals', { ...reference, collection_id: fixture.collections.failed }),
      ];
    },
    by: { constraint: 'reversals_operator_reference_key' },
  },
  {
    what: 'a reversal that begins anywhere but at the beginning',
    breaks: (fixture) => [insert(fixture, 'reversals', { state: 'succeeded' })],
    by: { says: /must begin as requested/ },
  },
  {
    what: 'a reversal of another merchant’s collection',
    breaks: (fixture) => [insert(fixture, 'reversals', { collection_id: fixture.otherCollectionId })],
    by: { says: /is for another merchant than its collection/ },
  },
  {
    what: 'a state of a reversal that there is not',
    breaks: ({ reversals }) => [update('reversals', reversals.requested, "state = 'paid'")],
    by: { constraint: 'reversals_state_check' },
  },
  {
    what: 'a reversal that failed for no reason',
    breaks: ({ reversals }) => [update('reversals', reversals.requested, "state = 'failed'")],
    by: { constraint: 'reversals_failure' },
  },
  ...WHAT_WAS_ASKED_FOR.map((assignment): RuleCase => ({
    what: `another ${/^\w+/.exec(assignment)?.[0] ?? ''} for a reversal`,
    breaks: ({ reversals }) => [update('reversals', reversals.requested, assignment)],
    by: { says: /what was asked for with reversal .* cannot change/ },
  })),
  ...['requested', 'reconciling', 'succeeded'].map((state): RuleCase => ({
    what: `to move a reversal from failed to ${state}`,
    breaks: ({ reversals }) => [update('reversals', reversals.failed, `state = '${state}', failure_code = NULL`)],
    by: { says: /has ended/ },
  })),
  {
    what: 'a reversal that succeeded while its collection is not reversed',
    breaks: ({ reversals }) => [update('reversals', reversals.requested, "state = 'succeeded'")],
    by: { says: /succeeded and its collection is not reversed/ },
  },
  ...keptForEver('reversals', ['DELETE', 'TRUNCATE']),
];
