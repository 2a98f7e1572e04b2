// Wrong rows of merchants, keys, collections and events, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { COLLECTION_TRANSITIONS } from '../../../src/domain/payments/collection.ts';
import { newId } from '../../../src/domain/ids.ts';
import { insert, move, refusedChanges, update, wrongInserts, type RuleCase } from '../rule-cases.ts';
import { illegalMoves, PAYMENT_FIELDS, requestedFieldCases, wrongPaymentColumns } from './any-payment-rule-cases.ts';

const OF_NOTHING = { collection_id: null, resource_version: null };

const ACCESS_CASES: readonly RuleCase[] = [
  ...wrongInserts('merchants', [
    ['an id of the wrong format', { id: 'mer_1' }, 'merchants_id_check'],
    ['an empty name', { name: '' }, 'merchants_name_check'],
    ['a currency that is not a code', { currency: 'ugx' }, 'merchants_currency_check'],
    ['an id that exists already', ({ merchantId }) => ({ id: merchantId }), 'merchants_pkey'],
  ]),
  {
    what: 'another currency for a merchant that has accounts',
    breaks: ({ merchantId }) => [update('merchants', merchantId, "currency = 'KES'")],
    by: { constraint: 'collections_merchant_id_currency_fkey' },
  },
  {
    what: 'to delete a merchant that has payments',
    breaks: ({ merchantId }) => [{ text: 'DELETE FROM merchants WHERE id = $1', values: [merchantId] }],
    by: { says: /violates foreign key constraint/ },
  },
  ...wrongInserts('api_keys', [
    ['an id of the wrong format', { id: 'key_1' }, 'api_keys_id_check'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'api_keys_merchant_id_fkey'],
    ['an empty name', { name: '' }, 'api_keys_name_check'],
    ['an unknown environment', { environment: 'staging' }, 'api_keys_environment_check'],
    ['a hint that is too long', { hint: 'abcde' }, 'api_keys_hint_check'],
    ['a digest of the wrong length', { key_sha256: Buffer.alloc(31) }, 'api_keys_key_sha256_check'],
    ['an empty list of scopes', { scopes: [] }, 'api_keys_scopes_check'],
    ['an unknown scope', { scopes: ['collections:read', 'money:all'] }, 'api_keys_scopes_check'],
  ]),
  {
    what: 'one digest for two API keys',
    breaks: (fixture) => {
      const key = { key_sha256: Buffer.alloc(32, 7) };
      return [insert(fixture, 'api_keys', key), insert(fixture, 'api_keys', key)];
    },
    by: { constraint: 'api_keys_key_sha256_key' },
  },
  ...wrongInserts('idempotency_keys', [
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'idempotency_keys_merchant_id_fkey'],
    ['a key with a space', { key: 'a b' }, 'idempotency_keys_key_check'],
    ['a key that is too long', { key: 'x'.repeat(256) }, 'idempotency_keys_key_check'],
    ['a digest of the wrong length', { request_sha256: Buffer.alloc(33) }, 'idempotency_keys_request_sha256_check'],
    ['a response status that must not be stored', { response_status: 500 }, 'idempotency_keys_response_status_check'],
  ]),
  {
    what: 'one idempotency key twice for one merchant',
    breaks: (fixture) => [
      insert(fixture, 'idempotency_keys', { key: 'k' }),
      insert(fixture, 'idempotency_keys', { key: 'k' }),
    ],
    by: { constraint: 'idempotency_keys_pkey' },
  },
];

const COLLECTION_ROW_CASES: readonly RuleCase[] = [
  ...wrongPaymentColumns('collections'),
  ...wrongInserts('collections', [
    ['an id that exists already', ({ collections }) => ({ id: collections.initiated }), 'collections_pkey'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'collections_merchant_id_currency_fkey'],
    ['a reference that is too long', { reference: 'x'.repeat(101) }, 'collections_reference_check'],
    ['a version above zero in the first state', { version: 1 }, 'collections_created_initiated'],
    ['a previous state in the first state', { previous_state: 'prompted' }, 'collections_created_initiated'],
  ]),
];

const REQUESTED_FIELDS: readonly string[] = [
  ...PAYMENT_FIELDS,
  `id = '${newId('col')}'`,
  "prompt_deadline_at = prompt_deadline_at + interval '1 day'",
];

const COLLECTION_CHANGE_CASES: readonly RuleCase[] = [
  ...requestedFieldCases('collection', ({ collections }) => collections.prompted, REQUESTED_FIELDS),
  ...(
    [
      ['initiated', 'version = version + 1'],
      ['prompted', "previous_state = 'reconciling'"],
      ['failed', "failure_code = 'unknown'"],
      ['succeeded', "operator_receipt = '43'"],
    ] as const
  ).map(([state, assignment]): RuleCase => ({
    what: `to change the outcome of a collection that stays ${state}`,
    breaks: ({ collections }) => [update('collections', collections[state], assignment)],
    by: { says: /outcome of collection .* can change only together with its state/ },
  })),
  {
    what: 'a state change of a collection that does not count up the version',
    breaks: ({ collections }) => [
      update('collections', collections.initiated, "state = 'reconciling', previous_state = state"),
    ],
    by: { says: /must count up version/ },
  },
  {
    what: 'a state change of a collection that names another previous state',
    breaks: ({ collections }) => [
      update(
        'collections',
        collections.prompted,
        "state = 'reconciling', version = version + 1, previous_state = 'initiated'",
      ),
    ],
    by: { says: /set previous_state to the old state/ },
  },
  {
    what: 'a collection that is created in a later state',
    breaks: (fixture) => [
      insert(fixture, 'collections', { state: 'prompted', version: 1, previous_state: 'initiated' }),
    ],
    by: { says: /must be created in state initiated/ },
  },
  {
    what: 'a collection in an unknown state',
    breaks: ({ collections }) => [
      { text: "INSERT INTO collection_transitions VALUES ('initiated', 'paid')", values: [] },
      move(collections.initiated, 'paid'),
    ],
    by: { constraint: 'collections_known_state' },
  },
  {
    what: 'a prompted collection whose prompt never expires',
    breaks: ({ collections }) => [move(collections.initiated, 'prompted')],
    by: { constraint: 'collections_prompt_expiry' },
  },
  {
    what: 'a failed collection without a failure code',
    breaks: ({ collections }) => [move(collections.initiated, 'failed')],
    by: { constraint: 'collections_failure' },
  },
  {
    what: 'a collection that succeeded without a receipt',
    breaks: ({ collections }) => [move(collections.prompted, 'succeeded')],
    by: { constraint: 'collections_receipt' },
  },
  {
    what: 'an empty receipt of a collection',
    breaks: ({ collections }) => [move(collections.prompted, 'succeeded', "operator_receipt = ''")],
    by: { constraint: 'collections_operator_receipt_check' },
  },
  {
    what: 'a reversal of a part of a collection',
    breaks: ({ collections }) => [move(collections.succeeded, 'reversed', 'amount_reversed_minor = 1')],
    by: { constraint: 'collections_reversed_amount' },
  },
  {
    what: 'one operator reference for two collections',
    breaks: (fixture) => {
      const reference = { operator_reference: randomUUID() };
      return [insert(fixture, 'collections', reference), insert(fixture, 'collections', reference)];
    },
    by: { constraint: 'collections_operator_reference_key' },
  },
  ...refusedChanges('collections', ['DELETE', 'TRUNCATE']),
];

// The columns that each state needs; without them another rule would refuse the row first.
const STATE_COLUMNS: Readonly<Record<string, string>> = {
  initiated: 'failure_code = NULL, operator_receipt = NULL',
  prompted: 'failure_code = NULL, operator_receipt = NULL, prompt_expires_at = now()',
  reconciling: 'failure_code = NULL, operator_receipt = NULL',
  succeeded: "failure_code = NULL, operator_receipt = '42'",
  failed: "failure_code = 'unknown', operator_receipt = NULL",
  expired: "failure_code = 'unknown', operator_receipt = NULL",
  reversed: "failure_code = NULL, operator_receipt = '42', amount_reversed_minor = amount_minor",
};

function columnsOf(state: string): string {
  return `${STATE_COLUMNS[state] ?? ''}${state === 'reversed' ? '' : ', amount_reversed_minor = 0'}`;
}

const TRANSITION_CASES: readonly RuleCase[] = illegalMoves(COLLECTION_TRANSITIONS).map(([from, to]) => ({
  what: `to move a collection from ${from} to ${to}`,
  breaks: ({ collections }) => [move(collections[from], to, columnsOf(to))],
  by: { constraint: to === 'initiated' ? 'collections_created_initiated' : 'collections_previous_state_state_fkey' },
}));

const EVENT_CASES: readonly RuleCase[] = [
  ...wrongInserts('events', [
    ['an id of the wrong format', { id: 'evt_1' }, 'events_id_check'],
    ['an id that exists already', ({ eventId }) => ({ id: eventId }), 'events_pkey'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer'), type: 'x', ...OF_NOTHING }), 'events_merchant_id_fkey'],
    ['an unknown collection', () => ({ collection_id: newId('col') }), 'events_collection_id_fkey'],
    ['a body that is too large', { body: 'é'.repeat(131_073) }, 'events_body_check'],
    ['a collection’s event without the collection', OF_NOTHING, 'events_of_a_resource'],
    ['a collection’s event without a version', { resource_version: null }, 'events_of_a_resource'],
    ['a collection in an event of another type', { type: 'endpoint.test' }, 'events_of_a_resource'],
    [
      'a second event of one change',
      ({ collections }) => ({ collection_id: collections.prompted, resource_version: 1 }),
      'events_one_per_change',
    ],
  ]),
  {
    what: 'an event of another merchant than its collection',
    breaks: (fixture) => [insert(fixture, 'events', { merchant_id: fixture.otherMerchantId })],
    by: { says: /belongs to another merchant than its payment/ },
  },
  {
    what: 'a state change of a collection without its event',
    breaks: ({ collections }) => [move(collections.initiated, 'reconciling')],
    by: { says: /became reconciling without an event/ },
  },
  {
    what: 'a state change of a collection with the event of another state',
    breaks: (fixture) => [move(fixture.collections.initiated, 'reconciling'), insert(fixture, 'events')],
    by: { says: /became reconciling without an event/ },
  },
  {
    what: 'a state change of a collection with the event of another version',
    breaks: (fixture) => [
      move(fixture.collections.initiated, 'reconciling'),
      insert(fixture, 'events', { type: 'collection.reconciling', resource_version: 2 }),
    ],
    by: { says: /became reconciling without an event/ },
  },
  {
    what: 'a collection that succeeded without its transfer',
    breaks: (fixture) => [
      move(fixture.collections.prompted, 'succeeded', "operator_receipt = '42'"),
      insert(fixture, 'events', {
        type: 'collection.succeeded',
        collection_id: fixture.collections.prompted,
        resource_version: 2,
      }),
    ],
    by: { says: /succeeded without a transfer/ },
  },
  {
    what: 'a reversed collection without its transfer',
    breaks: (fixture) => [
      move(fixture.collections.succeeded, 'reversed', 'amount_reversed_minor = amount_minor'),
      insert(fixture, 'events', {
        type: 'collection.reversed',
        collection_id: fixture.collections.succeeded,
        resource_version: 3,
      }),
    ],
    by: { says: /was reversed without a transfer/ },
  },
  ...refusedChanges('events', ['UPDATE', 'DELETE', 'TRUNCATE']),
];

const CALLBACK_CASES: readonly RuleCase[] = wrongInserts('operator_callbacks', [
  ['an unknown collection', () => ({ collection_id: newId('col') }), 'operator_callbacks_collection_id_fkey'],
  ['a body that is too large', { body: 'x'.repeat(65_537) }, 'operator_callbacks_body_check'],
  ['a content type that is too long', { content_type: 'x'.repeat(201) }, 'operator_callbacks_content_type_check'],
]);

export const PAYMENT_RULE_CASES: readonly RuleCase[] = [
  ...ACCESS_CASES,
  ...COLLECTION_ROW_CASES,
  ...COLLECTION_CHANGE_CASES,
  ...TRANSITION_CASES,
  ...EVENT_CASES,
  ...CALLBACK_CASES,
];
