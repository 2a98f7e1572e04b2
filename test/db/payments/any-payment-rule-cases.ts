// The rules that collections, payouts and reversals share, as cases for each of them.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { insert, ruleCase, update, wrongInserts, type RuleCase, type RuleFixture } from '../rule-cases.ts';

/** Columns of a collection or a payout that are wrong by themselves. */
export function wrongPaymentColumns(table: 'collections' | 'payouts'): RuleCase[] {
  const prefix = table === 'collections' ? 'col' : 'pay';
  return wrongInserts(table, [
    ['an id of the wrong format', { id: `${prefix}_1` }, 'payments_id_check'],
    ['an id that is too long', { id: `${newId(prefix)}0` }, 'payments_id_check'],
    ['an id with a character that none has', { id: newId(prefix).replace(/.$/, 'u') }, 'payments_id_check'],
    ['another currency than the merchant’s', { currency: 'KES' }, 'payments_merchant_id_currency_fkey'],
    ['an empty idempotency key', { idempotency_key: '' }, 'payments_idempotency_key_check'],
    ['an amount of zero', { amount_minor: 0 }, 'payments_amount_minor_check'],
    ['a negative amount', { amount_minor: -1000 }, 'payments_amount_minor_check'],
    [
      'an amount that is too large for a JSON number',
      { amount_minor: '9007199254740992' },
      'payments_amount_minor_check',
    ],
    ['an empty reference', { reference: '' }, 'payments_reference_check'],
    ['a phone with a plus', { phone: '+256772000100' }, 'payments_phone_check'],
    ['a phone that begins with 0', { phone: '0772000100' }, 'payments_phone_check'],
    ['a phone that is too short', { phone: '2567720' }, 'payments_phone_check'],
    ['a phone that is too long', { phone: '2567720001000000' }, 'payments_phone_check'],
    ['an empty description', { description: '' }, 'payments_description_check'],
    ['a description that is too long', { description: 'x'.repeat(121) }, 'payments_description_check'],
    ['metadata that is a list', { metadata: '[]' }, 'payments_metadata_check'],
    ['a failure code without a failure', { failure_code: 'unknown' }, 'payments_failure'],
    ['a receipt without a payment', { operator_receipt: '42' }, 'payments_receipt'],
    ['a reversed amount without a reversal', { amount_reversed_minor: 1 }, 'payments_reversed_amount'],
  ]);
}

/** Assignments to the columns that a request for a collection or a payout fills. */
export const PAYMENT_FIELDS: readonly string[] = [
  'amount_minor = amount_minor + 1',
  "currency = 'KES'",
  "reference = 'INV-2'",
  "phone = '256772000101'",
  "operator = 'other'",
  `operator_reference = '${randomUUID()}'`,
  "idempotency_key = 'other'",
  "description = 'other'",
  "payee_name = 'other'",
  `metadata = '{"a":"b"}'`,
  "created_at = created_at - interval '1 day'",
];

type Noun = 'collection' | 'payout' | 'reversal';

/** Another request that made it is refused, and so is none. */
export function requestStaysCases(noun: Noun, idOf: (fixture: RuleFixture) => string): RuleCase[] {
  return ["request_id = 'req_1'", 'request_id = NULL'].map((assignment) =>
    ruleCase(`${assignment} of a ${noun}`, /the requested fields of payments cannot change/, (fixture) => [
      update('payments', idOf(fixture), assignment),
    ]),
  );
}

/** What was requested stays as it was: each of these assignments is refused, and so is another merchant. */
export function requestedFieldCases(
  noun: Noun,
  idOf: (fixture: RuleFixture) => string,
  assignments: readonly string[],
): RuleCase[] {
  return [...assignments, `merchant_id = '${newId('mer')}'`].map((assignment) =>
    ruleCase(
      `to change ${assignedColumn(assignment)} of a ${noun}`,
      /the requested fields of payments cannot change/,
      (fixture) => [update('payments', idOf(fixture), assignment)],
    ),
  );
}

/** What came of it changes with its state alone: each of these assignments is refused to one that stays in the state. */
export function outcomeStaysCases<State extends string>(
  noun: 'collection' | 'payout' | 'refund',
  idIn: (fixture: RuleFixture, state: State) => string,
  assignments: readonly (readonly [State, string])[],
): RuleCase[] {
  const kind = noun === 'refund' ? 'reversal' : noun;
  const says = new RegExp(`outcome of ${kind} .* can change only together with its state`);
  return assignments.map(([state, assignment]) =>
    ruleCase(`to set ${assignedColumn(assignment)} of a ${noun} that stays ${state}`, says, (fixture) => [
      update('payments', idIn(fixture, state), assignment),
    ]),
  );
}

const APPROVED = {
  payout: { table: 'payout_approvals', what: 'an approval', id: newId('pay') },
  refund: { table: 'reversal_approvals', what: 'an approval of a refund', id: newId('rev') },
} as const;

/** Who may approve what, how much and until when. */
export function approvalCases(noun: keyof typeof APPROVED): RuleCase[] {
  const { table, what, id } = APPROVED[noun];
  const kind = noun === 'refund' ? 'reversal' : noun;
  const byOthers = new RegExp(`${kind} .* can be approved only by an owner or an approver`);
  const notQueued = new RegExp(`${kind} .* is not queued, has expired or belongs to another merchant`);
  return [
    ruleCase(`${what} by a member who is not an approver`, byOthers, (fixture) => [
      insert(fixture, table, { user_id: fixture.developerId }),
    ]),
    ruleCase(`${what} by an owner of another merchant`, byOthers, (fixture) => [
      insert(fixture, table, { user_id: fixture.otherMemberId }),
    ]),
    ruleCase(`${what} beyond the daily limit of its approver`, /approves more than the daily limit/, (fixture) => [
      insert(fixture, 'policies', { merchant_id: fixture.merchantId, approver_daily_limit_minor: 1 }),
      insert(fixture, table),
    ]),
    ruleCase(`an approval after the ${noun} expired`, notQueued, (fixture) => [
      insert(fixture, table, { approved_at: new Date(Date.now() + 8 * 86_400_000) }),
    ]),
    ruleCase(`an approval of an unknown ${noun}`, /query returned no rows/, (fixture) => [
      insert(fixture, table, { payment_id: id }),
    ]),
    ...(
      [
        ['payment_id', id, 'approvals_payment_id_fkey'],
        ['user_id', newId('usr'), 'approvals_merchant_id_user_id_fkey'],
      ] as const
    ).map(([column, value, constraint]): RuleCase =>
      ruleCase(`${what} with an unknown ${column}, with the trigger disabled`, constraint, (fixture) => [
        { text: 'ALTER TABLE approvals DISABLE TRIGGER approvals_check', values: [] },
        insert(fixture, table, { [column]: value }),
      ]),
    ),
  ];
}

export const SENT_NOW = 'send_begun_at = now()';
export const NEVER_SENT = "failure_code = 'service_unavailable', failed_by = 'never_sent'";
export const SEND_REFUSED = /can begin once, while it may be sent and before its deadline/;

/** A send of a payment that may be sent begins once, and before its deadline. */
export function sendCases(noun: Noun, idOf: (fixture: RuleFixture) => string, deadline: string): RuleCase[] {
  const sends = (...assignments: readonly string[]): RuleCase['breaks'] => {
    return (fixture) => assignments.map((assignment) => update('payments', idOf(fixture), assignment));
  };
  return [
    ruleCase(`a second first send of a ${noun}`, SEND_REFUSED, sends(SENT_NOW, "send_begun_at = now() + '1 ms'")),
    ruleCase(`a send of a ${noun} at its deadline`, SEND_REFUSED, sends(`send_begun_at = ${deadline}`)),
  ];
}

export function assignedColumn(assignment: string): string {
  return /^\w+/.exec(assignment)?.[0] ?? '';
}

/** Every pair of states without a transition. A move back to the first state is refused by a rule of its own. */
export function illegalMoves<State extends string>(
  transitions: Readonly<Record<State, Readonly<Partial<Record<string, State>>>>>,
): (readonly [from: State, to: State])[] {
  const states = Object.keys(transitions) as State[];
  return states.flatMap((from) => {
    const targets = Object.values(transitions[from]);
    return states.filter((to) => to !== from && !targets.includes(to)).map((to) => [from, to] as const);
  });
}
