// Wrong rows of payments that are sent once, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { insert, ruleCase, update, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';
import { SEND_REFUSED } from './any-payment-rule-cases.ts';

const REPEATED = /a send of .* is repeated after it began, while it may be sent and before its deadline/;
const TAKEN_BACK = /is taken back only as it began, with an attestation, while nothing more is known of it/;
const ISSUED = /the operator issues one id for .*, after it was sent/;
const SILENCE = /no silence of the operator says that it never accepted/;

const BEGINS = 'send_begun_at = now()';
const COUNTS = 'sends_taken_back = sends_taken_back + 1';
const ATTESTED = `take_back_attestation = '${'A'.repeat(43)}'`;
const TAKES_BACK = `send_begun_at = NULL, ${COUNTS}, ${ATTESTED}`;
const MOVES = 'previous_state = state, version = version + 1';

const soon = () => new Date(Date.now() + 60_000);

/** A collection that is sent once, to which these changes are made. */
function refuses(what: string, by: string | RegExp, changes: readonly string[]): RuleCase {
  return ruleCase(`${what} of a collection that is sent once`, by, (fixture) => {
    const id = newId('col');
    const once = insert(fixture, 'collections', { id, operator: 'daraja', sends_once: true, send_deadline_at: soon() });
    return [once, ...changes.map((change): Sql => update('payments', id, change))];
  });
}

/** A refund that is sent once, released by its approver, to which these changes are made. */
function refusesOfRefund(what: string, by: string | RegExp, changes: readonly string[]): RuleCase {
  return ruleCase(`${what} of a refund that is sent once`, by, (fixture) => {
    const id = newId('rev');
    return [
      insert(fixture, 'reversals', { id, sends_once: true, expires_at: soon() }),
      insert(fixture, 'reversal_approvals', { payment_id: id }),
      update('payments', id, RELEASES),
      ...changes.map((change): Sql => update('payments', id, change)),
    ];
  });
}

const RELEASES = `state = 'released', ${MOVES}, send_deadline_at = now() + interval '5 minutes',
  release_attestation = '${'a'.repeat(43)}'`;

const PAID_ID = newId('col');
const OUTCOME_STAYS = /the outcome of collection .* can change only together with its state/;

function paidWithout(fixture: RuleFixture, receipt_follows: boolean): Sql[] {
  return [
    insert(fixture, 'collections', {
      id: PAID_ID,
      operator: 'daraja',
      sends_once: true,
      receipt_follows,
      send_deadline_at: soon(),
    }),
    update('payments', PAID_ID, `prompt_expires_at = now(), state = 'prompted', ${MOVES}`),
    update('payments', PAID_ID, `state = 'succeeded', ${MOVES}`),
  ];
}

export const ONCE_RULE_CASES: readonly RuleCase[] = [
  refuses('a second send', SEND_REFUSED, [BEGINS, "send_begun_at = now() + '1 ms'"]),
  refuses('a repeated send', REPEATED, [BEGINS, 'send_repeated_at = now()']),
  refuses('to forget a send', SEND_REFUSED, [BEGINS, 'send_begun_at = NULL']),
  refuses('to take back a send that never began', TAKEN_BACK, [TAKES_BACK]),
  refuses('to take back a send without an attestation', TAKEN_BACK, [BEGINS, `send_begun_at = NULL, ${COUNTS}`]),
  refuses('to take back a send on the attestation of an earlier one', TAKEN_BACK, [
    ...[BEGINS, TAKES_BACK, BEGINS],
    `send_begun_at = NULL, ${COUNTS}`,
  ]),
  refuses('to take back two sends at once', TAKEN_BACK, [BEGINS, TAKES_BACK.replace('+ 1', '+ 2')]),
  refuses('to take back a send without forgetting it', TAKEN_BACK, [BEGINS, `${COUNTS}, ${ATTESTED}`]),
  refuses('to take back what the operator issued an id for', TAKEN_BACK, [
    BEGINS,
    "operator_issued_id = 'ws_CO_9'",
    TAKES_BACK,
  ]),
  refuses('to take back a send with a change of state', TAKEN_BACK, [
    BEGINS,
    `${TAKES_BACK}, state = 'reconciling', ${MOVES}`,
  ]),
  refuses('to replace the attestation of a send that was taken back', TAKEN_BACK, [
    ...[BEGINS, TAKES_BACK],
    `take_back_attestation = '${'B'.repeat(43)}'`,
  ]),
  refuses('to count down the sends that were taken back', TAKEN_BACK, [BEGINS, TAKES_BACK, 'sends_taken_back = 0']),
  refuses('an id issued before it was sent', ISSUED, ["operator_issued_id = 'ws_CO_9'"]),
  refuses('another issued id', ISSUED, [BEGINS, "operator_issued_id = 'ws_CO_9'", "operator_issued_id = 'ws_CO_8'"]),
  refuses('to forget the issued id', ISSUED, [BEGINS, "operator_issued_id = 'ws_CO_9'", 'operator_issued_id = NULL']),
  refuses('an empty issued id', 'payments_operator_issued_id_check', [BEGINS, "operator_issued_id = ''"]),
  refuses('an end by the silence of the operator', SILENCE, [
    BEGINS,
    `state = 'expired', ${MOVES}, failure_code = 'operator_unavailable'`,
  ]),
  refusesOfRefund('a second send', SEND_REFUSED, [BEGINS, "send_begun_at = now() + '1 ms'"]),
  refusesOfRefund('a repeated send', REPEATED, [BEGINS, 'send_repeated_at = now()']),
  refusesOfRefund('to forget a send', SEND_REFUSED, [BEGINS, 'send_begun_at = NULL']),
  refusesOfRefund('to take back a send without an attestation', TAKEN_BACK, [
    BEGINS,
    `send_begun_at = NULL, ${COUNTS}`,
  ]),
  refusesOfRefund('a failure by the silence of the operator', SILENCE, [
    BEGINS,
    `state = 'failed', ${MOVES}, failure_code = 'operator_unavailable', failed_by = 'never_accepted',
     status_kind = 'not_found', status_queried_at = now(), status_attestation = '1.${'a'.repeat(43)}'`,
  ]),
  ruleCase('another receipt than the one that followed', OUTCOME_STAYS, (fixture) => [
    ...paidWithout(fixture, true),
    update('payments', PAID_ID, "operator_receipt = 'SFC1'"),
    update('payments', PAID_ID, "operator_receipt = 'SFC2'"),
  ]),
  ruleCase('a payment without a receipt where none follows', 'payments_receipt', (fixture) =>
    paidWithout(fixture, false),
  ),
  ruleCase('that a receipt follows no more', /the requested fields of payments cannot change/, ({ collections }) => [
    update('payments', collections.initiated, 'receipt_follows = true'),
  ]),
  ruleCase('to take back the send of a collection that may be sent again', TAKEN_BACK, ({ collections }) => [
    update('payments', collections.initiated, BEGINS),
    update('payments', collections.initiated, TAKES_BACK),
  ]),
  ruleCase('that a payment is sent once no more', /the requested fields of payments cannot change/, (fixture) => [
    update('payments', fixture.collections.initiated, 'sends_once = false'),
  ]),
  ruleCase(
    'one issued id for two payments of an operator',
    'payments_one_per_issued_id',
    ({ collections, payouts }) => [
      ...[collections.initiated, payouts.released].flatMap((id) => [
        update('payments', id, 'send_begun_at = coalesce(send_begun_at, now())'),
        update('payments', id, "operator_issued_id = 'ws_CO_9'"),
      ]),
    ],
  ),
  ruleCase(
    'one short reference for two collections that are sent once',
    'payments_one_per_short_reference',
    (fixture) =>
      ['1', '2'].map((end) =>
        insert(fixture, 'collections', {
          operator: 'daraja',
          operator_reference: `0190f5fe-7c00-4a00-8000-00000000000${end}`,
          sends_once: true,
        }),
      ),
  ),
];
