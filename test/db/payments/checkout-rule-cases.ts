// What the database refuses of checkouts and of attempts to pay them.
import { randomBytes } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { newCode } from '../../../src/security/token.ts';
import { insert, insertRow, ruleCase, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';

type Fields = Readonly<Record<string, unknown>>;

const HOUR_MS = 3_600_000;
const ONE_TIME = newId('chk');
const REUSABLE = newId('chk');

const checkout = ({ merchantId, makerId }: RuleFixture, fields: Fields = {}): Sql =>
  insertRow('checkouts', {
    ...{ id: ONE_TIME, code: newCode(), merchant_id: merchantId, created_by: makerId, created_at: new Date() },
    ...{ amount_minor: 5000, currency: 'UGX', reference: 'INV-1', metadata: '{}', use: 'one_time' },
    expires_at: new Date(Date.now() + HOUR_MS),
    ...fields,
  });
const reusable = (fixture: RuleFixture): Sql => checkout(fixture, { id: REUSABLE, use: 'reusable', expires_at: null });

const collection = (fixture: RuleFixture, id: string, fields: Fields = {}): Sql =>
  insert(fixture, 'collections', { id, ...fields });
const attempt = ({ merchantId }: RuleFixture, id: string, fields: Fields = {}): Sql =>
  insertRow('checkout_attempts', {
    ...{ code_sha256: randomBytes(32), checkout_id: ONE_TIME, merchant_id: merchantId, collection_id: id },
    created_at: new Date(),
    ...fields,
  });

/** An attempt whose collection is in this state, as the service brought one there. */
const attemptIn = (fixture: RuleFixture, state: keyof RuleFixture['collections'], failureCode?: string): Sql[] => [
  checkout(fixture),
  { text: 'SET LOCAL session_replication_role = replica', values: [] },
  ...(failureCode === undefined
    ? []
    : [
        {
          text: 'UPDATE payments SET failure_code = $2 WHERE id = $1',
          values: [fixture.collections[state], failureCode],
        },
      ]),
  attempt(fixture, fixture.collections[state]),
  { text: 'SET LOCAL session_replication_role = origin', values: [] },
];

const [FIRST, SECOND] = [newId('col'), newId('col')];
const UNLIKE = /is not as checkout .* asks for/;
const PAYABLE = /has an attempt that was or can be paid/;
const OVER = /takes no attempt any more/;
const CHANGED = /can be cancelled once, and nothing else of it can change/;

const wrongCheckouts: readonly (readonly [string, Fields, string])[] = [
  ['a checkout with the id of something else', { id: newId('evt') }, 'checkouts_id_check'],
  ['a checkout with a code that could be guessed', { code: 'abc' }, 'checkouts_code_check'],
  ['a checkout for nothing', { amount_minor: 0 }, 'checkouts_amount_minor_check'],
  ['a checkout without a reference', { reference: '' }, 'checkouts_reference_check'],
  ['a checkout with an endless description', { description: 'x'.repeat(121) }, 'checkouts_description_check'],
  ['a checkout whose metadata is a list', { metadata: '[]' }, 'checkouts_metadata_check'],
  ['a checkout for another use', { use: 'twice' }, 'checkouts_use_check'],
  ['a checkout that leads to a script', { return_url: 'javascript:alert(1)' }, 'checkouts_return_url_check'],
  ['a checkout in another currency', { currency: 'KES' }, 'checkouts_merchant_currency'],
  ['a one-time checkout without an end', { expires_at: null }, 'checkouts_expiry'],
  ['a checkout that ended before it began', { expires_at: new Date(0) }, 'checkouts_expiry'],
];

export const CHECKOUT_RULE_CASES: readonly RuleCase[] = [
  ...wrongCheckouts.map(([what, fields, by]) => ruleCase(what, by, (fixture) => [checkout(fixture, fields)])),
  ruleCase('two checkouts with one id', 'checkouts_pkey', (fixture) => [checkout(fixture), checkout(fixture)]),
  ruleCase('two checkouts with one code', 'checkouts_code_key', (fixture) => {
    const code = newCode();
    return [checkout(fixture, { code }), checkout(fixture, { code, id: REUSABLE })];
  }),
  ruleCase('a checkout by nobody of its merchant', 'checkouts_creator', (fixture) => [
    checkout(fixture, { created_by: fixture.otherMemberId }),
  ]),
  ruleCase('a checkout that is created cancelled', /must be created open/, (fixture) => [
    checkout(fixture, { cancelled_at: new Date() }),
  ]),
  ruleCase('a live checkout that sends payers back without https', /must send payers back by https/, (fixture) => [
    { text: 'SET LOCAL session_replication_role = replica', values: [] },
    { text: `UPDATE deployment SET environment = 'live'`, values: [] },
    { text: 'SET LOCAL session_replication_role = origin', values: [] },
    checkout(fixture, { return_url: 'http://127.0.0.1/back' }),
  ]),
  ...[`amount_minor = 1`, `return_url = 'https://evil.example'`, `code = '${newCode()}'`, 'expires_at = now()'].map(
    (change) =>
      ruleCase(`to change a checkout: ${change.split(' ')[0]}`, CHANGED, (fixture) => [
        checkout(fixture),
        { text: `UPDATE checkouts SET ${change} WHERE id = $1`, values: [ONE_TIME] },
      ]),
  ),
  ruleCase('to take back that a checkout was cancelled', CHANGED, (fixture) => [
    checkout(fixture),
    { text: 'UPDATE checkouts SET cancelled_at = now() WHERE id = $1', values: [ONE_TIME] },
    { text: 'UPDATE checkouts SET cancelled_at = NULL WHERE id = $1', values: [ONE_TIME] },
  ]),
  ruleCase('to delete a checkout', /DELETE is not allowed on checkout/, (fixture) => [
    checkout(fixture),
    { text: 'DELETE FROM checkouts WHERE id = $1', values: [ONE_TIME] },
  ]),
  ruleCase('to delete an attempt', /DELETE is not allowed on checkout/, (fixture) => [
    checkout(fixture),
    collection(fixture, FIRST),
    attempt(fixture, FIRST),
    { text: 'DELETE FROM checkout_attempts WHERE checkout_id = $1', values: [ONE_TIME] },
  ]),
  ruleCase('an attempt at no checkout', UNLIKE, (fixture) => [collection(fixture, FIRST), attempt(fixture, FIRST)]),
  ruleCase('an attempt without a collection', UNLIKE, (fixture) => [checkout(fixture), attempt(fixture, FIRST)]),
  ruleCase('an attempt for another amount', UNLIKE, (fixture) => [
    checkout(fixture),
    collection(fixture, FIRST, { amount_minor: 4000 }),
    attempt(fixture, FIRST),
  ]),
  ruleCase('an attempt under another reference', UNLIKE, (fixture) => [
    checkout(fixture),
    collection(fixture, FIRST, { reference: 'INV-2' }),
    attempt(fixture, FIRST),
  ]),
  ruleCase('an attempt with an earlier collection', UNLIKE, (fixture) => [
    checkout(fixture),
    attempt(fixture, fixture.collections.prompted),
  ]),
  ruleCase('an attempt with a collection of another merchant', UNLIKE, (fixture) => [
    checkout(fixture),
    attempt(fixture, fixture.otherCollectionId),
  ]),
  ruleCase('two attempts with one collection', 'checkout_attempts_collection_id_key', (fixture) => [
    reusable(fixture),
    checkout(fixture),
    collection(fixture, FIRST),
    attempt(fixture, FIRST),
    { text: 'SET LOCAL session_replication_role = replica', values: [] },
    attempt(fixture, FIRST, { checkout_id: REUSABLE }),
  ]),
  ruleCase('two attempts with one code', 'checkout_attempts_pkey', (fixture) => {
    const code = randomBytes(32);
    return [
      reusable(fixture),
      collection(fixture, FIRST),
      collection(fixture, SECOND, { phone: '256772000200' }),
      attempt(fixture, FIRST, { checkout_id: REUSABLE, code_sha256: code }),
      attempt(fixture, SECOND, { checkout_id: REUSABLE, code_sha256: code }),
    ];
  }),
  ruleCase('an attempt with something other than a digest', 'checkout_attempts_code_sha256_check', (fixture) => [
    checkout(fixture),
    collection(fixture, FIRST),
    attempt(fixture, FIRST, { code_sha256: Buffer.alloc(16) }),
  ]),
  ruleCase('an attempt at a cancelled checkout', OVER, (fixture) => [
    checkout(fixture),
    { text: 'UPDATE checkouts SET cancelled_at = now() WHERE id = $1', values: [ONE_TIME] },
    collection(fixture, FIRST),
    attempt(fixture, FIRST),
  ]),
  ruleCase('an attempt after the end of a checkout', OVER, (fixture) => [
    checkout(fixture),
    collection(fixture, FIRST),
    attempt(fixture, FIRST, { created_at: new Date(Date.now() + 2 * HOUR_MS) }),
  ]),
  ...(['initiated', 'prompted', 'reconciling', 'succeeded', 'reversed'] as const).map((state) =>
    ruleCase(`an attempt after one that is ${state}`, PAYABLE, (fixture) => [
      ...attemptIn(fixture, state),
      collection(fixture, FIRST),
      attempt(fixture, FIRST),
    ]),
  ),
  ruleCase('an attempt after one that may be paid still', PAYABLE, (fixture) => [
    ...attemptIn(fixture, 'expired', 'unknown'),
    collection(fixture, FIRST),
    attempt(fixture, FIRST),
  ]),
  ruleCase('a second live attempt of one phone', /has a live attempt of this phone/, (fixture) => [
    reusable(fixture),
    collection(fixture, FIRST),
    collection(fixture, SECOND),
    attempt(fixture, FIRST, { checkout_id: REUSABLE }),
    attempt(fixture, SECOND, { checkout_id: REUSABLE }),
  ]),
];
