// Wrong rows of merchants, keys, collections and events, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { COLLECTION_STATES, COLLECTION_TRANSITIONS } from '../../../src/domain/payments/collection.ts';
import { newId } from '../../../src/domain/ids.ts';
import { insert, keptForEver, move, update, wrongInserts, type RuleCase } from '../rule-cases.ts';

const OF_NOTHING = { collection_id: null, resource_version: null };

const ACCESS_CASES: readonly RuleCase[] = [
  ...wrongInserts('merchants', [
    ['an id of another form', { id: 'mer_1' }, 'merchants_id_check'],
    ['no name', { name: '' }, 'merchants_name_check'],
    ['a currency that is no code', { currency: 'ugx' }, 'merchants_currency_check'],
    ['the same merchant twice', ({ merchantId }) => ({ id: merchantId }), 'merchants_pkey'],
  ]),
  {
    what: 'another currency for a merchant who has accounts',
    breaks: ({ merchantId }) => [update('merchants', merchantId, "currency = 'KES'")],
    by: { constraint: 'collections_merchant_id_currency_fkey' },
  },
  {
    what: 'to delete a merchant who has payments',
    breaks: ({ merchantId }) => [{ text: 'DELETE FROM merchants WHERE id = $1', values: [merchantId] }],
    by: { says: /violates foreign key constraint/ },
  },
  ...wrongInserts('api_keys', [
    ['an id of another form', { id: 'key_1' }, 'api_keys_id_check'],
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'api_keys_merchant_id_fkey'],
    ['no name', { name: '' }, 'api_keys_name_check'],
    ['an environment there is not', { environment: 'staging' }, 'api_keys_environment_check'],
    ['a hint that shows more', { hint: 'abcde' }, 'api_keys_hint_check'],
    ['a digest of another length', { key_sha256: Buffer.alloc(31) }, 'api_keys_key_sha256_check'],
    ['no scope', { scopes: [] }, 'api_keys_scopes_check'],
    ['a scope there is not', { scopes: ['collections:read', 'money:all'] }, 'api_keys_scopes_check'],
  ]),
  {
    what: 'one key twice in api_keys',
    breaks: (fixture) => {
      const key = { key_sha256: Buffer.alloc(32, 7) };
      return [insert(fixture, 'api_keys', key), insert(fixture, 'api_keys', key)];
    },
    by: { constraint: 'api_keys_key_sha256_key' },
  },
  ...wrongInserts('idempotency_keys', [
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'idempotency_keys_merchant_id_fkey'],
    ['a key with a space', { key: 'a b' }, 'idempotency_keys_key_check'],
    ['a key that is too long', { key: 'x'.repeat(256) }, 'idempotency_keys_key_check'],
    ['a digest of another length', { request_sha256: Buffer.alloc(33) }, 'idempotency_keys_request_sha256_check'],
    ['an answer that must not be kept', { response_status: 500 }, 'idempotency_keys_response_status_check'],
  ]),
  {
    what: 'one idempotency key twice for a merchant',
    breaks: (fixture) => [
      insert(fixture, 'idempotency_keys', { key: 'k' }),
      insert(fixture, 'idempotency_keys', { key: 'k' }),
    ],
    by: { constraint: 'idempotency_keys_pkey' },
  },
];

const COLLECTION_ROW_CASES: readonly RuleCase[] = wrongInserts('collections', [
  ['an id of another form', { id: 'col_1' }, 'collections_id_check'],
  ['the same collection twice', ({ collections }) => ({ id: collections.initiated }), 'collections_pkey'],
  ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'collections_merchant_id_currency_fkey'],
  ['another currency than the merchant’s', { currency: 'KES' }, 'collections_merchant_id_currency_fkey'],
  ['no idempotency key', { idempotency_key: '' }, 'collections_idempotency_key_check'],
  ['an amount of nothing', { amount_minor: 0 }, 'collections_amount_minor_check'],
  ['a negative amount', { amount_minor: -5000 }, 'collections_amount_minor_check'],
  ['an amount beyond a JSON number', { amount_minor: '9007199254740992' }, 'collections_amount_minor_check'],
  ['no reference', { reference: '' }, 'collections_reference_check'],
  ['a long reference', { reference: 'x'.repeat(101) }, 'collections_reference_check'],
  ['a phone with a plus', { phone: '+256772000100' }, 'collections_phone_check'],
  ['an empty description', { description: '' }, 'collections_description_check'],
  ['a long description', { description: 'x'.repeat(121) }, 'collections_description_check'],
  ['metadata that is a list', { metadata: '[]' }, 'collections_metadata_check'],
  ['a version before anything happened', { version: 1 }, 'collections_made_initiated'],
  ['a state before the first', { previous_state: 'prompted' }, 'collections_made_initiated'],
  ['a failure without failing', { failure_code: 'wrong_pin' }, 'collections_failure'],
  ['a receipt without payment', { operator_receipt: '42' }, 'collections_receipt'],
  ['a reversal without payment', { amount_reversed_minor: 1 }, 'collections_reversed_amount'],
]);

const WHAT_WAS_ASKED_FOR: readonly string[] = [
  `id = '${newId('col')}'`,
  'amount_minor = amount_minor + 1',
  "currency = 'KES'",
  "reference = 'INV-2'",
  "phone = '256772000101'",
  "operator = 'other'",
  `operator_reference = '${randomUUID()}'`,
  "idempotency_key = 'other'",
  "description = 'other'",
  `metadata = '{"a":"b"}'`,
  "created_at = created_at - interval '1 day'",
  "prompt_deadline_at = prompt_deadline_at + interval '1 day'",
];

const COLLECTION_CHANGE_CASES: readonly RuleCase[] = [
  ...WHAT_WAS_ASKED_FOR.map((assignment): RuleCase => ({
    what: `another ${/^\w+/.exec(assignment)?.[0] ?? ''} for a collection`,
    breaks: ({ collections }) => [update('collections', collections.prompted, assignment)],
    by: { says: /what was asked for .* cannot change/ },
  })),
  {
    what: 'another merchant for a collection',
    breaks: ({ collections, otherMerchantId }) => [
      update('collections', collections.prompted, `merchant_id = '${otherMerchantId}'`),
    ],
    by: { says: /what was asked for .* cannot change/ },
  },
  ...(
    [
      ['initiated', 'version = version + 1'],
      ['prompted', "previous_state = 'reconciling'"],
      ['failed', "failure_code = 'unknown'"],
      ['succeeded', "operator_receipt = '43'"],
    ] as const
  ).map(([state, assignment]): RuleCase => ({
    what: `to rewrite the outcome of a collection that stays ${state}`,
    breaks: ({ collections }) => [update('collections', collections[state], assignment)],
    by: { says: /can change its outcome only with its state/ },
  })),
  {
    what: 'a change of state that is not counted',
    breaks: ({ collections }) => [
      update('collections', collections.initiated, "state = 'reconciling', previous_state = state"),
    ],
    by: { says: /must count its state changes/ },
  },
  {
    what: 'a change of state that does not name the state it left',
    breaks: ({ collections }) => [
      update(
        'collections',
        collections.prompted,
        "state = 'reconciling', version = version + 1, previous_state = 'initiated'",
      ),
    ],
    by: { says: /name the state it left/ },
  },
  {
    what: 'a collection that begins anywhere but at the beginning',
    breaks: (fixture) => [
      insert(fixture, 'collections', { state: 'prompted', version: 1, previous_state: 'initiated' }),
    ],
    by: { says: /must begin as initiated/ },
  },
  {
    what: 'a state there is not',
    breaks: ({ collections }) => [
      { text: "INSERT INTO collection_transitions VALUES ('initiated', 'paid')", values: [] },
      move(collections.initiated, 'paid'),
    ],
    by: { constraint: 'collections_known_state' },
  },
  {
    what: 'an open prompt without an end',
    breaks: ({ collections }) => [move(collections.initiated, 'prompted')],
    by: { constraint: 'collections_prompt_expiry' },
  },
  {
    what: 'a failure without a reason',
    breaks: ({ collections }) => [move(collections.initiated, 'failed')],
    by: { constraint: 'collections_failure' },
  },
  {
    what: 'a success without a receipt',
    breaks: ({ collections }) => [move(collections.prompted, 'succeeded')],
    by: { constraint: 'collections_receipt' },
  },
  {
    what: 'a receipt of nothing',
    breaks: ({ collections }) => [move(collections.prompted, 'succeeded', "operator_receipt = ''")],
    by: { constraint: 'collections_operator_receipt_check' },
  },
  {
    what: 'a reversal of a part',
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
  ...keptForEver('collections', ['DELETE', 'TRUNCATE']),
];

// What a state must have besides its name; without it another rule would refuse first.
const BELONGINGS: Readonly<Record<string, string>> = {
  initiated: 'failure_code = NULL, operator_receipt = NULL',
  prompted: 'failure_code = NULL, operator_receipt = NULL, prompt_expires_at = now()',
  reconciling: 'failure_code = NULL, operator_receipt = NULL',
  succeeded: "failure_code = NULL, operator_receipt = '42'",
  failed: "failure_code = 'unknown', operator_receipt = NULL",
  expired: "failure_code = 'unknown', operator_receipt = NULL",
  reversed: "failure_code = NULL, operator_receipt = '42', amount_reversed_minor = amount_minor",
};

function belongings(state: string): string {
  return `${BELONGINGS[state] ?? ''}${state === 'reversed' ? '' : ', amount_reversed_minor = 0'}`;
}

/** Every pair of states that the table of transitions does not have. A return to the first state has a rule of its own. */
const TRANSITION_CASES: readonly RuleCase[] = COLLECTION_STATES.flatMap((from) => {
  const targets = Object.values(COLLECTION_TRANSITIONS[from]);
  const illegal = COLLECTION_STATES.filter((to) => to !== from && !targets.includes(to));
  return illegal.map((to): RuleCase => ({
    what: `to move a collection from ${from} to ${to}`,
    breaks: ({ collections }) => [move(collections[from], to, belongings(to))],
    by: { constraint: to === 'initiated' ? 'collections_made_initiated' : 'collections_previous_state_state_fkey' },
  }));
});

const EVENT_CASES: readonly RuleCase[] = [
  ...wrongInserts('events', [
    ['an id of another form', { id: 'evt_1' }, 'events_id_check'],
    ['the same event twice', ({ eventId }) => ({ id: eventId }), 'events_pkey'],
    [
      'a merchant nobody knows',
      () => ({ merchant_id: newId('mer'), type: 'x', ...OF_NOTHING }),
      'events_merchant_id_fkey',
    ],
    ['a collection nobody knows', () => ({ collection_id: newId('col') }), 'events_collection_id_fkey'],
    ['a body that is too large', { body: 'é'.repeat(131_073) }, 'events_body_check'],
    ['a change of no collection', OF_NOTHING, 'events_of_a_resource'],
    ['a change without a version', { resource_version: null }, 'events_of_a_resource'],
    ['another type with a collection', { type: 'endpoint.test' }, 'events_of_a_resource'],
    [
      'one change told twice',
      ({ collections }) => ({ collection_id: collections.prompted, resource_version: 1 }),
      'events_one_per_change',
    ],
  ]),
  {
    what: 'an event for another merchant than its collection',
    breaks: (fixture) => [insert(fixture, 'events', { merchant_id: fixture.otherMerchantId })],
    by: { says: /for another merchant than what it tells of/ },
  },
  {
    what: 'a change of state without its event',
    breaks: ({ collections }) => [move(collections.initiated, 'reconciling')],
    by: { says: /became reconciling without an event/ },
  },
  {
    what: 'a change of state with the event of another',
    breaks: (fixture) => [move(fixture.collections.initiated, 'reconciling'), insert(fixture, 'events')],
    by: { says: /became reconciling without an event/ },
  },
  {
    what: 'a change of state with an event of another version',
    breaks: (fixture) => [
      move(fixture.collections.initiated, 'reconciling'),
      insert(fixture, 'events', { type: 'collection.reconciling', resource_version: 2 }),
    ],
    by: { says: /became reconciling without an event/ },
  },
  {
    what: 'a success without its transfer',
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
    what: 'a return without its transfer',
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
  ...keptForEver('events', ['UPDATE', 'DELETE', 'TRUNCATE']),
];

const CALLBACK_CASES: readonly RuleCase[] = wrongInserts('operator_callbacks', [
  ['a collection nobody knows', () => ({ collection_id: newId('col') }), 'operator_callbacks_collection_id_fkey'],
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
