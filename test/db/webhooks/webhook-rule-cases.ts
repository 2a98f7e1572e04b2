// Invalid rows of endpoints, deliveries, attempts and replays, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { insertRow, refusedChanges, ruleCase, twoRows, update, wrongInserts } from '../rule-cases.ts';
import type { RuleCase, RuleFixture } from '../rule-cases.ts';

const DISABLED = { state: 'disabled', disabled_reason: 'by_person', disabled_at: new Date() };
const DELETED = { disabled_reason: 'deleted', deleted_at: new Date() };

const ENDPOINT_CASES: readonly RuleCase[] = [
  ...wrongInserts('endpoints', [
    ['an invalid id', { id: 'whe_1' }, 'endpoints_id_check'],
    ['a duplicate endpoint', ({ endpointId }) => ({ id: endpointId }), 'endpoints_pkey'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'endpoints_merchant_id_fkey'],
    ['a URL that is too long', { url: 'x'.repeat(2049) }, 'endpoints_url_check'],
    ['a description that is too long', { description: 'x'.repeat(201) }, 'endpoints_description_check'],
    ['an empty list of event types', { event_types: [] }, 'endpoints_event_types_check'],
    ['an unknown state', { state: 'asleep' }, 'endpoints_state_check'],
    [
      'an enabled endpoint with a reason to be disabled',
      { disabled_reason: 'failing' },
      'endpoints_disabled_for_a_reason',
    ],
    [
      'a disabled endpoint without a reason',
      { state: 'disabled', disabled_at: new Date() },
      'endpoints_disabled_for_a_reason',
    ],
    ['an unknown reason to be disabled', { ...DISABLED, disabled_reason: 'x' }, 'endpoints_disabled_reason'],
    ['a disabled endpoint without a time', { ...DISABLED, disabled_at: null }, 'endpoints_disabled_at'],
    [
      'a deleted endpoint that still has its secret',
      { ...DISABLED, ...DELETED, secret_sealed: 'sealed' },
      'endpoints_deleted',
    ],
    [
      'a deleted endpoint with another reason',
      { ...DISABLED, deleted_at: new Date(), secret_sealed: null },
      'endpoints_deleted',
    ],
    ['an endpoint without a secret', { secret_sealed: null }, 'endpoints_deleted'],
    ['a previous secret without an end', { previous_secret_sealed: 'x' }, 'endpoints_previous_secret'],
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
  ['a delivery with an invalid id', () => ({ id: 'dlv_1' }), 'deliveries_id_check'],
  ['a duplicate delivery', (fixture) => ({ id: fixture.deliveryId }), 'deliveries_pkey'],
  ['a second delivery of one event to one endpoint', () => ({}), 'deliveries_event_id_endpoint_id_key'],
  [
    'a delivery to another merchant’s endpoint',
    (fixture) => ({ endpoint_id: fixture.otherEndpointId }),
    'deliveries_endpoint_id_merchant_id_fkey',
  ],
  ['a withheld delivery with a next attempt', () => ({ state: 'withheld' }), 'deliveries_next_attempt'],
  ['a delivery with a negative number of replays', () => ({ replay_count: -1 }), 'deliveries_replay_count_check'],
  [
    'a delivery with more attempts before a replay than in all',
    () => ({ attempts_before_replay: 1 }),
    'deliveries_attempts_before_replay',
  ],
  ['a delivery in an unknown state', () => ({ state: 'lost' }), 'deliveries_state_check'],
  ['a delivery with a negative number of attempts', () => ({ attempt_count: -1 }), 'deliveries_attempt_count_check'],
  [
    'a delivered delivery without an attempt',
    () => ({ state: 'delivered', next_attempt_at: null }),
    'deliveries_ended_after_an_attempt',
  ],
  [
    'a dead-lettered delivery with a next attempt',
    () => ({ state: 'dead_lettered', attempt_count: 10 }),
    'deliveries_next_attempt',
  ],
  ['a pending delivery without a next attempt', () => ({ next_attempt_at: null }), 'deliveries_next_attempt'],
];

const DELIVERY_CASES: readonly RuleCase[] = [
  ...DELIVERY_ROWS.map(([what, columns, constraint]): RuleCase =>
    ruleCase(what, constraint, (fixture) => [delivery(fixture, columns(fixture))]),
  ),
  ruleCase('a delivery of another merchant’s event', /another merchant than its event/, (fixture) => [
    delivery(fixture, { event_id: fixture.otherEventId }),
  ]),
  ruleCase('a delivery of an unknown event', 'deliveries_event_id_fkey', ({ deliveryId }) => [
    update('deliveries', deliveryId, `event_id = '${newId('evt')}'`),
  ]),
];

const ATTEMPT_CASES: readonly RuleCase[] = [
  ...wrongInserts('delivery_attempts', [
    ['an unknown delivery', () => ({ delivery_id: newId('dlv') }), 'delivery_attempts_delivery_id_fkey'],
    ['an attempt number of 0', { attempt_number: 0 }, 'delivery_attempts_attempt_number_check'],
    ['a negative duration', { duration_ms: -1 }, 'delivery_attempts_duration_ms_check'],
    ['an invalid status code', { status_code: 99 }, 'delivery_attempts_status_code_check'],
    [
      'a stored response body that is too long',
      { response_body: Buffer.alloc(16_385) },
      'delivery_attempts_response_body_check',
    ],
    ['both a response and an error', { error: 'refused' }, 'delivery_attempts_answer_or_error'],
    ['neither a response nor an error', { status_code: null }, 'delivery_attempts_answer_or_error'],
    ['a response without headers', { response_headers: null }, 'delivery_attempts_answer_or_error'],
    ['a response without a body', { response_body: null }, 'delivery_attempts_answer_or_error'],
  ]),
  twoRows('a duplicate attempt', 'delivery_attempts_pkey', 'delivery_attempts'),
  ...refusedChanges('delivery_attempts', ['UPDATE', 'DELETE', 'TRUNCATE'], 'error'),
];

const REPLAY_CASES: readonly RuleCase[] = [
  ...wrongInserts('replays', [
    ['an invalid id', { id: 'rpl_1' }, 'replays_id_check'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer'), endpoint_id: null }), 'replays_merchant_id_fkey'],
    [
      'another merchant’s endpoint',
      ({ otherEndpointId }) => ({ endpoint_id: otherEndpointId }),
      'replays_endpoint_id_merchant_id_fkey',
    ],
    ['an empty list of delivery states', { states: [] }, 'replays_states_check'],
    ['a delivery state that cannot be replayed', { states: ['retrying'] }, 'replays_states_check'],
    ['an unknown state', { state: 'asleep' }, 'replays_state_check'],
    ['a negative total', { total: -1 }, 'replays_total_check'],
    ['a negative number of replayed deliveries', { replayed: -1 }, 'replays_replayed_check'],
    ['a negative number of skipped deliveries', { skipped: -1 }, 'replays_skipped_check'],
    ['an unknown person', () => ({ requested_by: newId('usr') }), 'replays_requested_by_fkey'],
    ['a completed replay without a time', { state: 'completed' }, 'replays_completed'],
    ['a running replay with a time of completion', () => ({ completed_at: new Date() }), 'replays_completed'],
  ]),
  twoRows('a duplicate replay', 'replays_pkey', 'replays', { id: newId('rpl') }),
];

const TEST_EVENT = { type: 'endpoint.test', payment_id: null, resource_version: null };
const TEST_EVENT_CASES: readonly RuleCase[] = wrongInserts('events', [
  ['a test event without an endpoint', TEST_EVENT, 'events_of_an_endpoint'],
  [
    'an event of a payment with an endpoint',
    ({ endpointId }) => ({ endpoint_id: endpointId }),
    'events_of_an_endpoint',
  ],
  [
    'a test event for another merchant’s endpoint',
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
