// Wrong rows of merchants, keys, collections and events, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { COLLECTION_TRANSITIONS } from '../../../src/domain/payments/collection.ts';
import { newId } from '../../../src/domain/ids.ts';
import { insert, move, refusedChanges, ruleCase, twoRows, update, wrongInserts, statusQueryOf } from '../rule-cases.ts';
import type { RuleCase } from '../rule-cases.ts';
import {
  illegalMoves,
  PAYMENT_FIELDS,
  requestedFieldCases,
  requestStaysCases,
  SEND_REFUSED,
  sendCases,
  SENT_NOW,
  wrongPaymentColumns,
  outcomeStaysCases,
} from './any-payment-rule-cases.ts';

const OF_NOTHING = { payment_id: null, resource_version: null };

const ACCESS_CASES: readonly RuleCase[] = [
  ...wrongInserts('currencies', [
    ['a currency whose code is no code', { code: 'kes' }, 'currencies_code'],
    ['a currency with fewer smallest units than whole ones', { exponent: -1 }, 'currencies_exponent'],
    ['a currency with more decimals than any has', { exponent: 5 }, 'currencies_exponent'],
    ['a currency that exists already', { code: 'KES' }, 'currencies_pkey'],
  ]),
  ...wrongInserts('merchants', [
    ['an id of the wrong format', { id: 'mer_1' }, 'merchants_id_check'],
    ['an empty name', { name: '' }, 'merchants_name_check'],
    ['a currency that is not a code', { currency: 'ugx' }, 'merchants_currency_fkey'],
    ['a currency that the service does not know', { currency: 'BIF' }, 'merchants_currency_fkey'],
    ['an id that exists already', ({ merchantId }) => ({ id: merchantId }), 'merchants_pkey'],
  ]),
  ruleCase(
    'another currency for a merchant that has accounts',
    'payments_merchant_id_currency_fkey',
    ({ merchantId }) => [update('merchants', merchantId, "currency = 'KES'")],
  ),
  ruleCase('to delete a merchant that has payments', /violates foreign key constraint/, ({ merchantId }) => [
    { text: 'DELETE FROM merchants WHERE id = $1', values: [merchantId] },
  ]),
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
  twoRows('one digest for two API keys', 'api_keys_key_sha256_key', 'api_keys', { key_sha256: Buffer.alloc(32, 7) }),
  ...wrongInserts('idempotency_keys', [
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'idempotency_keys_merchant_id_fkey'],
    ['a key with a space', { key: 'a b' }, 'idempotency_keys_key_check'],
    ['a key that is too long', { key: 'x'.repeat(256) }, 'idempotency_keys_key_check'],
    ['a digest of the wrong length', { request_sha256: Buffer.alloc(33) }, 'idempotency_keys_request_sha256_check'],
    ['a response status that must not be stored', { response_status: 500 }, 'idempotency_keys_response_status_check'],
  ]),
  twoRows('one idempotency key twice for one merchant', 'idempotency_keys_pkey', 'idempotency_keys', { key: 'k' }),
];

const COLLECTION_ROW_CASES: readonly RuleCase[] = [
  ...wrongPaymentColumns('collections'),
  ...wrongInserts('collections', [
    ['an id that exists already', ({ collections }) => ({ id: collections.initiated }), 'payments_pkey'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'payments_merchant_id_currency_fkey'],
    ['a reference that is too long', { reference: 'x'.repeat(101) }, 'payments_reference_check'],
    ['a version above zero in the first state', { version: 1 }, 'payments_created_in_first_state'],
    ['a previous state in the first state', { previous_state: 'prompted' }, 'payments_created_in_first_state'],
  ]),
  ...wrongInserts('collections', [
    [
      'a collection that it gives back',
      ({ collections }) => ({ collection_id: collections.succeeded }),
      'payments_columns_of_collections',
    ],
    ['a number of approvals', { approvals_required: 1 }, 'payments_columns_of_collections'],
    ['a name of a payee', { payee_name: 'Jane Nakato' }, 'payments_columns_of_collections'],
    ['no send deadline', { send_deadline_at: null }, 'payments_columns_of_collections'],
    ['no idempotency key', { idempotency_key: null }, 'payments_columns_of_collections'],
    ['the id of a payout', () => ({ id: newId('pay') }), 'payments_id_of_kind'],
  ]),
  ruleCase('a payment of an unknown kind', 'payments_kind_check', (fixture) => [
    { text: 'ALTER TABLE payments DISABLE TRIGGER payments_check_new', values: [] },
    insert(fixture, 'collections', { kind: 'column', state: 'queued' }),
  ]),
  ruleCase('a collection of a person and of a key', 'payments_created_by_one', (fixture) => {
    const id = newId('key');
    const creators = { created_by: fixture.makerId, api_key_id: id };
    return [insert(fixture, 'api_keys', { id }), insert(fixture, 'collections', creators)];
  }),
  ruleCase('a collection of a person of another merchant', 'payments_merchant_id_created_by_fkey', (fixture) => [
    insert(fixture, 'collections', { created_by: fixture.otherMemberId }),
  ]),
  ruleCase('a collection of a key of another merchant', /created by no API key of its merchant/, (fixture) => {
    const id = newId('key');
    const key = insert(fixture, 'api_keys', { id, merchant_id: fixture.otherMerchantId });
    return [key, insert(fixture, 'collections', { api_key_id: id })];
  }),
  ruleCase(
    'another creator for a collection',
    /the requested fields of payments cannot change/,
    ({ collections, makerId }) => [update('payments', collections.prompted, `created_by = '${makerId}'`)],
  ),
  ruleCase('another key for a collection', /the requested fields of payments cannot change/, ({ collections }) => [
    update('payments', collections.prompted, 'api_key_id = NULL'),
  ]),
];

const REQUESTED_FIELDS: readonly string[] = [...PAYMENT_FIELDS, `id = '${newId('col')}'`];

const COLLECTION_CHANGE_CASES: readonly RuleCase[] = [
  ...requestStaysCases('collection', ({ collections }) => collections.prompted),
  ...requestedFieldCases('collection', ({ collections }) => collections.prompted, REQUESTED_FIELDS),
  ...outcomeStaysCases('collection', ({ collections }, state) => collections[state], [
    ['initiated', 'version = version + 1'],
    ['prompted', "previous_state = 'reconciling'"],
    ['failed', "failure_code = 'unknown'"],
    ['succeeded', "operator_receipt = '43'"],
    ['initiated', "send_deadline_at = send_deadline_at + interval '1 day'"],
  ]),
  ruleCase(
    'a state change of a collection that does not count up the version',
    /must count up version/,
    ({ collections }) => [update('payments', collections.initiated, "state = 'reconciling', previous_state = state")],
  ),
  ruleCase(
    'a state change of a collection that names another previous state',
    /set previous_state to the old state/,
    ({ collections }) => [
      update(
        'payments',
        collections.prompted,
        "state = 'reconciling', version = version + 1, previous_state = 'initiated'",
      ),
    ],
  ),
  ruleCase('a collection that is created in a later state', /must be created in state initiated/, (fixture) => [
    insert(fixture, 'collections', { state: 'prompted', version: 1, previous_state: 'initiated' }),
  ]),
  ruleCase('a collection in an unknown state', 'payments_transition', ({ collections }) => [
    move(collections.initiated, 'paid'),
  ]),
  ruleCase('a transition of collections to an unknown state', 'payment_transitions_known_state', () => [
    { text: "INSERT INTO payment_transitions VALUES ('collection', 'initiated', 'paid')", values: [] },
  ]),
  ruleCase('a prompted collection whose prompt never expires', 'payments_prompt_expiry', ({ collections }) => [
    move(collections.initiated, 'prompted'),
  ]),
  ruleCase('a failed collection without a failure code', 'payments_failure', ({ collections }) => [
    move(collections.initiated, 'failed'),
  ]),
  ruleCase('a collection that succeeded without a receipt', 'payments_receipt', ({ collections }) => [
    move(collections.prompted, 'succeeded'),
  ]),
  ruleCase('an empty receipt of a collection', 'payments_operator_receipt_check', ({ collections }) => [
    move(collections.prompted, 'succeeded', "operator_receipt = ''"),
  ]),
  ruleCase('one receipt of an operator for two collections', 'payments_one_per_receipt', ({ collections }) => [
    move(collections.prompted, 'succeeded', "operator_receipt = '4711'"),
    move(collections.reconciling, 'succeeded', "operator_receipt = '4711'"),
  ]),
  ruleCase('a reversal of a part of a collection', 'payments_reversed_amount', ({ collections }) => [
    move(collections.succeeded, 'reversed', 'amount_reversed_minor = 1'),
  ]),
  ruleCase('a collection that was sent and ends as never sent', 'payments_never_sent', ({ collections }) => [
    update('payments', collections.initiated, SENT_NOW),
    move(collections.initiated, 'expired', "failure_code = 'service_unavailable'"),
  ]),
  ruleCase('a collection that was prompted and ends as never sent', /was prompted, so it cannot/, ({ collections }) => [
    move(collections.prompted, 'reconciling'),
    move(collections.prompted, 'expired', "failure_code = 'service_unavailable'"),
  ]),
  ruleCase('a send of a collection that ended as never sent', SEND_REFUSED, ({ collections }) => [
    move(collections.initiated, 'expired', "failure_code = 'service_unavailable'"),
    update('payments', collections.initiated, SENT_NOW),
  ]),
  ...sendCases('collection', ({ collections }) => collections.initiated, 'send_deadline_at'),
  ruleCase('a send of a collection that was prompted', SEND_REFUSED, ({ collections }) => [
    update('payments', collections.prompted, SENT_NOW),
  ]),
  ruleCase(
    'to fail a collection that expired because the operator said so',
    /expired as prompt_expired, so it cannot fail later/,
    ({ collections }) => [move(collections.expired, 'failed', "failure_code = 'wrong_pin'")],
  ),
  twoRows('one operator reference for two collections', 'payments_operator_reference_key', 'collections', {
    operator_reference: randomUUID(),
  }),
  ...refusedChanges('payments', ['DELETE', 'TRUNCATE']),
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

const TRANSITION_CASES: readonly RuleCase[] = illegalMoves(COLLECTION_TRANSITIONS).map(([from, to]) =>
  ruleCase(
    `to move a collection from ${from} to ${to}`,
    to === 'initiated' ? 'payments_created_in_first_state' : 'payments_transition',
    ({ collections }) => [move(collections[from], to, columnsOf(to))],
  ),
);

const EVENT_CASES: readonly RuleCase[] = [
  ...wrongInserts('events', [
    ['an id of the wrong format', { id: 'evt_1' }, 'events_id_check'],
    ['an id that exists already', ({ eventId }) => ({ id: eventId }), 'events_pkey'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer'), type: 'x', ...OF_NOTHING }), 'events_merchant_id_fkey'],
    ['an unknown collection', () => ({ payment_id: newId('col') }), 'events_payment_id_fkey'],
    ['a body that is too large', { body: 'é'.repeat(131_073) }, 'events_body_check'],
    ['a collection’s event without the collection', OF_NOTHING, 'events_of_a_payment'],
    ['a collection’s event without a version', { resource_version: null }, 'events_of_a_payment'],
    ['a collection in an event of another type', { type: 'endpoint.test' }, 'events_of_a_payment'],
    [
      'a second event of one change',
      ({ collections }) => ({ payment_id: collections.prompted, resource_version: 1 }),
      'events_one_per_change',
    ],
  ]),
  ruleCase(
    'an event of another merchant than its collection',
    /belongs to another merchant than its payment/,
    (fixture) => [insert(fixture, 'events', { merchant_id: fixture.otherMerchantId })],
  ),
  ruleCase(
    'a state change of a collection without its event',
    /became reconciling without an event/,
    ({ collections }) => [statusQueryOf(collections.initiated), move(collections.initiated, 'reconciling')],
  ),
  ...(
    [
      ['state', {}],
      ['version', { type: 'collection.reconciling', resource_version: 2 }],
    ] as const
  ).map(([other, fields]) =>
    ruleCase(
      `a state change of a collection with the event of another ${other}`,
      /became reconciling without an event/,
      (fixture) => [
        statusQueryOf(fixture.collections.initiated),
        move(fixture.collections.initiated, 'reconciling'),
        insert(fixture, 'events', fields),
      ],
    ),
  ),
  ruleCase('a collection that succeeded without its transfer', /succeeded without a transfer/, (fixture) => [
    move(fixture.collections.prompted, 'succeeded', "operator_receipt = '42'"),
    insert(fixture, 'events', {
      type: 'collection.succeeded',
      payment_id: fixture.collections.prompted,
      resource_version: 2,
    }),
  ]),
  ruleCase('a reversed collection without its transfer', /was reversed without a transfer/, (fixture) => [
    move(fixture.collections.succeeded, 'reversed', 'amount_reversed_minor = amount_minor'),
    insert(fixture, 'events', {
      type: 'collection.reversed',
      payment_id: fixture.collections.succeeded,
      resource_version: 3,
    }),
  ]),
  ...refusedChanges('events', ['UPDATE', 'DELETE', 'TRUNCATE']),
];

const EXCHANGE_CASES: readonly RuleCase[] = [
  ...wrongInserts('operator_exchanges', [
    ['an unknown kind', { kind: 'guess' }, 'operator_exchanges_kind'],
    ['an outcome of another kind', { outcome: 'pending' }, 'operator_exchanges_outcome'],
    ['a negative duration', { duration_ms: -1 }, 'operator_exchanges_duration'],
    ['a refusal without a reason', { outcome: 'refused' }, 'operator_exchanges_failure'],
  ]),
  ruleCase('an exchange about no payment', /of no payment of its merchant/, (fixture) => [
    insert(fixture, 'operator_exchanges', { payment_id: newId('col') }),
  ]),
  ruleCase('an exchange about a payment of another merchant', /of no payment of its merchant/, (fixture) => [
    insert(fixture, 'operator_exchanges', { payment_id: fixture.otherCollectionId }),
  ]),
  ruleCase('to change an exchange', /an exchange with an operator cannot change/, (fixture) => [
    insert(fixture, 'operator_exchanges'),
    { text: "UPDATE operator_exchanges SET outcome = 'unknown'", values: [] },
  ]),
  ...refusedChanges('operator_exchanges', ['TRUNCATE']),
];

const PAYEE_NAME_CASES: readonly RuleCase[] = [
  ...wrongInserts('payee_names', [
    [
      'the name of a payer',
      ({ collections }) => ({ payment_id: collections.prompted }),
      'payee_names_payment_id_check',
    ],
    ['the name of the payee of no payout', () => ({ payment_id: newId('pay') }), 'payee_names_payment_id_fkey'],
    ['a name of no merchant', () => ({ merchant_id: newId('mer') }), 'payee_names_merchant_id_fkey'],
    ['an empty name', { name: '' }, 'payee_names_name_check'],
    ['a name that is too long', { name: 'x'.repeat(201) }, 'payee_names_name_check'],
  ]),
  twoRows('a second name of a payee', 'payee_names_pkey', 'payee_names'),
  ...refusedChanges('payee_names', ['UPDATE', 'TRUNCATE'], 'name'),
];

const CALLBACK_CASES: readonly RuleCase[] = wrongInserts('operator_callbacks', [
  ['an unknown collection', () => ({ payment_id: newId('col') }), 'operator_callbacks_payment_id_fkey'],
  ['a body that is too large', { body: 'x'.repeat(65_537) }, 'operator_callbacks_body_check'],
  ['a content type that is too long', { content_type: 'x'.repeat(201) }, 'operator_callbacks_content_type_check'],
]);

export const PAYMENT_RULE_CASES: readonly RuleCase[] = [
  ...ACCESS_CASES,
  ...PAYEE_NAME_CASES,
  ...COLLECTION_ROW_CASES,
  ...COLLECTION_CHANGE_CASES,
  ...TRANSITION_CASES,
  ...EVENT_CASES,
  ...CALLBACK_CASES,
  ...EXCHANGE_CASES,
];
