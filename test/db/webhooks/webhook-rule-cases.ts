// Wrong rows of endpoints, deliveries and attempts, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import {
  insert,
  insertRow,
  keptForEver,
  update,
  wrongInserts,
  type RuleCase,
  type RuleFixture,
} from '../rule-cases.ts';

const DISABLED = { state: 'disabled', disabled_reason: 'by_person', disabled_at: new Date() };
const DELETED = { disabled_reason: 'deleted', deleted_at: new Date() };

const ENDPOINT_CASES: readonly RuleCase[] = [
  ...wrongInserts('endpoints', [
    ['an id of another form', { id: 'whe_1' }, 'endpoints_id_check'],
    ['the same endpoint twice', ({ endpointId }) => ({ id: endpointId }), 'endpoints_pkey'],
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'endpoints_merchant_id_fkey'],
    ['an address that is too long', { url: 'x'.repeat(2049) }, 'endpoints_url_check'],
    ['a description that is too long', { description: 'x'.repeat(201) }, 'endpoints_description_check'],
    ['a wish for no event at all', { event_types: [] }, 'endpoints_event_types_check'],
    ['a state there is not', { state: 'asleep' }, 'endpoints_state_check'],
    ['a reason to be disabled while enabled', { disabled_reason: 'failing' }, 'endpoints_disabled_for_a_reason'],
    ['to be disabled for no reason', { state: 'disabled', disabled_at: new Date() }, 'endpoints_disabled_for_a_reason'],
    ['a reason to be disabled that there is not', { ...DISABLED, disabled_reason: 'x' }, 'endpoints_disabled_reason'],
    ['to be disabled at no time', { ...DISABLED, disabled_at: null }, 'endpoints_disabled_at'],
    ['to be deleted with its secret', { ...DISABLED, ...DELETED, secret_sealed: 'sealed' }, 'endpoints_deleted'],
    [
      'to be deleted for another reason',
      { ...DISABLED, deleted_at: new Date(), secret_sealed: null },
      'endpoints_deleted',
    ],
    ['to be without a secret', { secret_sealed: null }, 'endpoints_deleted'],
    ['a secret of before that is valid for ever', { previous_secret_sealed: 'x' }, 'endpoints_previous_secret'],
  ]),
];

function delivery(fixture: RuleFixture, columns: Readonly<Record<string, unknown>> = {}) {
  return insertRow('deliveries', {
    id: newId('dlv'),
    event_id: fixture.eventId,
    endpoint_id: fixture.endpointId,
    merchant_id: fixture.merchantId,
    state: 'pending',
    next_attempt_at: new Date(),
    created_at: new Date(),
    updated_at: new Date(),
    ...columns,
  });
}

const DELIVERY_ROWS: readonly [string, (fixture: RuleFixture) => Record<string, unknown>, string][] = [
  ['a delivery with an id of another form', () => ({ id: 'dlv_1' }), 'deliveries_id_check'],
  ['the same delivery twice', (fixture) => ({ id: fixture.deliveryId }), 'deliveries_pkey'],
  ['one event twice for one endpoint', () => ({}), 'deliveries_event_id_endpoint_id_key'],
  [
    'a delivery to another merchant’s endpoint',
    (fixture) => ({ endpoint_id: fixture.otherEndpointId }),
    'deliveries_endpoint_id_merchant_id_fkey',
  ],
  ['a delivery that is withheld and still to be tried', () => ({ state: 'withheld' }), 'deliveries_next_attempt'],
  ['a delivery replayed less than never', () => ({ replay_count: -1 }), 'deliveries_replay_count_check'],
  [
    'more attempts before a replay than there were',
    () => ({ attempts_before_replay: 1 }),
    'deliveries_attempts_before_replay',
  ],
  ['a delivery in a state there is not', () => ({ state: 'lost' }), 'deliveries_state_check'],
  ['a negative number of attempts', () => ({ attempt_count: -1 }), 'deliveries_attempt_count_check'],
  [
    'a delivery that is done without an attempt',
    () => ({ state: 'delivered', next_attempt_at: null }),
    'deliveries_ended_after_an_attempt',
  ],
  [
    'a delivery that is done and still to be tried',
    () => ({ state: 'dead_lettered', attempt_count: 10 }),
    'deliveries_next_attempt',
  ],
  ['a delivery that is pending and never to be tried', () => ({ next_attempt_at: null }), 'deliveries_next_attempt'],
];

const DELIVERY_CASES: readonly RuleCase[] = [
  ...DELIVERY_ROWS.map(([what, columns, constraint]): RuleCase => ({
    what,
    breaks: (fixture) => [delivery(fixture, columns(fixture))],
    by: { constraint },
  })),
  {
    what: 'a delivery of another merchant’s event',
    breaks: (fixture) => [delivery(fixture, { event_id: fixture.otherEventId })],
    by: { says: /for another merchant than its event/ },
  },
  {
    what: 'a delivery of an event nobody knows',
    breaks: ({ deliveryId }) => [update('deliveries', deliveryId, `event_id = '${newId('evt')}'`)],
    by: { constraint: 'deliveries_event_id_fkey' },
  },
];

const ATTEMPT_CASES: readonly RuleCase[] = [
  ...wrongInserts('delivery_attempts', [
    ['a delivery nobody knows', () => ({ delivery_id: newId('dlv') }), 'delivery_attempts_delivery_id_fkey'],
    ['an attempt before the first', { attempt_number: 0 }, 'delivery_attempts_attempt_number_check'],
    ['an attempt that took less than no time', { duration_ms: -1 }, 'delivery_attempts_duration_ms_check'],
    ['a status that is none', { status_code: 99 }, 'delivery_attempts_status_code_check'],
    [
      'a kept answer that is too long',
      { response_body: Buffer.alloc(16_385) },
      'delivery_attempts_response_body_check',
    ],
    ['an answer and an error', { error: 'refused' }, 'delivery_attempts_answer_or_error'],
    ['neither answer nor error', { status_code: null }, 'delivery_attempts_answer_or_error'],
    ['an answer without headers', { response_headers: null }, 'delivery_attempts_answer_or_error'],
    ['an answer without a body', { response_body: null }, 'delivery_attempts_answer_or_error'],
  ]),
  {
    what: 'one attempt twice',
    breaks: (fixture) => [insert(fixture, 'delivery_attempts'), insert(fixture, 'delivery_attempts')],
    by: { constraint: 'delivery_attempts_pkey' },
  },
  ...keptForEver('delivery_attempts', ['UPDATE', 'DELETE', 'TRUNCATE'], 'error'),
];

const REPLAY_CASES: readonly RuleCase[] = [
  ...wrongInserts('replays', [
    ['an id of another form', { id: 'rpl_1' }, 'replays_id_check'],
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer'), endpoint_id: null }), 'replays_merchant_id_fkey'],
    [
      'another merchant’s endpoint',
      ({ otherEndpointId }) => ({ endpoint_id: otherEndpointId }),
      'replays_endpoint_id_merchant_id_fkey',
    ],
    ['deliveries in no state', { states: [] }, 'replays_states_check'],
    ['deliveries that are on their way', { states: ['retrying'] }, 'replays_states_check'],
    ['a state there is not', { state: 'asleep' }, 'replays_state_check'],
    ['less than nothing to do', { total: -1 }, 'replays_total_check'],
    ['less than nothing done', { replayed: -1 }, 'replays_replayed_check'],
    ['less than nothing left out', { skipped: -1 }, 'replays_skipped_check'],
    ['a person nobody knows', () => ({ requested_by: newId('usr') }), 'replays_requested_by_fkey'],
    ['to be completed at no time', { state: 'completed' }, 'replays_completed'],
    ['to be running after its end', () => ({ completed_at: new Date() }), 'replays_completed'],
  ]),
  {
    what: 'the same replay twice',
    breaks: (fixture) => {
      const id = newId('rpl');
      return [insert(fixture, 'replays', { id }), insert(fixture, 'replays', { id })];
    },
    by: { constraint: 'replays_pkey' },
  },
];

const TEST_EVENT = { type: 'endpoint.test', collection_id: null, resource_version: null };
const TEST_EVENT_CASES: readonly RuleCase[] = wrongInserts('events', [
  ['a test of no endpoint', TEST_EVENT, 'events_of_an_endpoint'],
  ['a payment’s change with an endpoint', ({ endpointId }) => ({ endpoint_id: endpointId }), 'events_of_an_endpoint'],
  [
    'a test of another merchant’s endpoint',
    ({ otherEndpointId }) => ({ ...TEST_EVENT, endpoint_id: otherEndpointId }),
    'events_endpoint_fkey',
  ],
]);

export const WEBHOOK_RULE_CASES: readonly RuleCase[] = [
  ...ENDPOINT_CASES,
  ...DELIVERY_CASES,
  ...ATTEMPT_CASES,
  ...REPLAY_CASES,
  ...TEST_EVENT_CASES,
];
