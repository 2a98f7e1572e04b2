// Wrong rows of the generations of payouts, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { refusedChanges, ruleCase, update, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';
import { SEND_REFUSED, SENT_NOW } from './any-payment-rule-cases.ts';

const FOLLOWS = /does not follow a send of a payout that may still be sent, or has the reference of a payment/;
const UNSENT = /begins unsent, after one that was sent, and is recorded first/;
const COUNTS = 'send_generation = send_generation + 1';
const FORGETS = 'send_begun_at = NULL, send_repeated_at = NULL, accepted_at = NULL, operator_issued_id = NULL';
const NEXT = `${COUNTS}, ${FORGETS}`;

type Fields = Readonly<
  Partial<Record<'generation' | 'operator_reference' | 'failure_code' | 'send_after' | 'attestation', unknown>>
>;

/** Records a generation of the payment by hand, as these fields say. */
function generation(payment_id: string, fields: Fields = {}): Sql {
  const row = {
    ...{ payment_id, generation: 2, operator_reference: randomUUID(), failure_code: 'operator_unavailable' },
    ...{ recorded_at: new Date(), send_after: new Date(Date.now() + 60_000), attestation: 'A'.repeat(43) },
    ...fields,
  };
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  return {
    text: `INSERT INTO send_generations (${columns.join(', ')}) VALUES (${places.join(', ')})`,
    values: Object.values(row),
  };
}

const sent = ({ payouts }: RuleFixture): Sql => update('payments', payouts.released, SENT_NOW);
const WITHOUT_TRIGGER = { text: 'ALTER TABLE send_generations DISABLE TRIGGER send_generations_check', values: [] };
const ONE_REFERENCE = { operator_reference: randomUUID() };
const second = ({ payouts }: RuleFixture, fields: Fields = {}): Sql[] => [
  generation(payouts.released, fields),
  update('payments', payouts.released, NEXT),
];

function refuses(what: string, by: string | RegExp, fields: Fields): RuleCase {
  return ruleCase(`a generation ${what}`, by, (fixture) => [
    sent(fixture),
    generation(fixture.payouts.released, fields),
  ]);
}

/** To count up with these assignments, after a sent payout got a second generation. */
function refusesStep(what: string, assignments: string): RuleCase {
  return ruleCase(what, UNSENT, (fixture) => [
    sent(fixture),
    generation(fixture.payouts.released),
    update('payments', fixture.payouts.released, assignments),
  ]);
}

export const GENERATION_RULE_CASES: readonly RuleCase[] = [
  ruleCase('a generation of a payout that was not sent', FOLLOWS, ({ payouts }) => [generation(payouts.released)]),
  ruleCase('a generation of a payout that is queued', FOLLOWS, ({ payouts }) => [generation(payouts.queued)]),
  ruleCase('a generation of a payout that failed', FOLLOWS, ({ payouts }) => [generation(payouts.failed)]),
  ruleCase('a generation of a collection', FOLLOWS, ({ collections }) => [
    update('payments', collections.initiated, SENT_NOW),
    generation(collections.initiated),
  ]),
  ruleCase('a generation of a payout past its send deadline', FOLLOWS, (fixture) => [
    sent(fixture),
    {
      text: `INSERT INTO send_generations SELECT id, 2, gen_random_uuid(), 'unknown', send_deadline_at, send_deadline_at, repeat('A', 43)
             FROM payments WHERE id = $1`,
      values: [fixture.payouts.released],
    },
  ]),
  refuses('that leaves one out', FOLLOWS, { generation: 3 }),
  refuses('without a reason', 'send_generations_failure', { failure_code: '' }),
  refuses('that is sent before it is recorded', 'send_generations_pause', { send_after: new Date(0) }),
  refuses('with something else than an attestation', 'send_generations_attestation', { attestation: 'none' }),
  ruleCase('a generation with the reference of a payment', FOLLOWS, (fixture) => [
    sent(fixture),
    {
      text: `INSERT INTO send_generations SELECT id, 2, operator_reference, 'unknown', now(), now(), repeat('A', 43)
             FROM payments WHERE id = $1`,
      values: [fixture.payouts.released],
    },
  ]),
  ruleCase('a generation of a payout twice', 'send_generations_pkey', (fixture) => [
    sent(fixture),
    generation(fixture.payouts.released),
    generation(fixture.payouts.released),
  ]),
  ruleCase('two generations with one reference', 'send_generations_operator_reference_key', (fixture) => [
    sent(fixture),
    ...second(fixture, ONE_REFERENCE),
    sent(fixture),
    generation(fixture.payouts.released, { generation: 3, ...ONE_REFERENCE }),
  ]),
  ruleCase('a generation of no payment, with the trigger disabled', 'send_generations_payment_id_fkey', () => [
    WITHOUT_TRIGGER,
    generation(newId('pay')),
  ]),
  ruleCase('a first generation, with the trigger disabled', 'send_generations_later', ({ payouts }) => [
    WITHOUT_TRIGGER,
    generation(payouts.released, { generation: 1 }),
  ]),
  ...refusedChanges('send_generations', ['UPDATE', 'DELETE', 'TRUNCATE'], 'generation'),
  ruleCase('a generation that is not recorded', UNSENT, (fixture) => [
    sent(fixture),
    update('payments', fixture.payouts.released, NEXT),
  ]),
  refusesStep('a generation that begins sent', COUNTS),
  refusesStep('two generations at once', NEXT.replace('+ 1', '+ 2')),
  refusesStep('a generation that the operator has accepted', NEXT.replace('accepted_at = NULL', 'accepted_at = now()')),
  refusesStep(
    'a generation with a change of state',
    `${NEXT}, state = 'reconciling', previous_state = state, version = version + 1`,
  ),
  ruleCase('to count a generation down', UNSENT, (fixture) => [
    sent(fixture),
    ...second(fixture),
    update('payments', fixture.payouts.released, 'send_generation = 1'),
  ]),
  ruleCase('a second send of a generation', SEND_REFUSED, (fixture) => [
    sent(fixture),
    ...second(fixture),
    update('payments', fixture.payouts.released, SENT_NOW),
    update('payments', fixture.payouts.released, "send_begun_at = now() + '1 ms'"),
  ]),
  ruleCase('to forget the send of a later generation', SEND_REFUSED, (fixture) => [
    sent(fixture),
    ...second(fixture),
    update('payments', fixture.payouts.released, SENT_NOW),
    update('payments', fixture.payouts.released, 'send_begun_at = NULL'),
  ]),
];
