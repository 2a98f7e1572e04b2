// Wrong rows of the fence and of restores, and money that moves without a fresh fence or in recovery, each with the rule that refuses it.
import { newId } from '../../src/domain/ids.ts';
import { confirmedProposal } from './accounts/staff-rows.ts';
import { SENT_NOW } from './payments/any-payment-rule-cases.ts';
import { insert, move, refusedChanges, ruleCase, update, wrongInserts } from './rule-cases.ts';
import type { Row, RuleCase, RuleFixture, Sql } from './rule-cases.ts';

const plain = (text: string): Sql => ({ text, values: [] });
const fence = (columns: string, values: string) => () => [plain(`INSERT INTO fence (${columns}) VALUES (${values})`)];

const COUNTS = /the fence counts up with each write/;
const KEPT = /what was found of restore .* never changes, and it is opened once/;
const BY_TWO = /two of the staff open the service after restore/;

const restore = (fixture: RuleFixture): Sql => insert(fixture, 'restores');
const PROPOSAL = newId('spr');
const open = (assignments = `opened_at = now(), proposal_id = '${PROPOSAL}'`) =>
  plain(`UPDATE restores SET ${assignments}`);

/** Two of the staff agree on this restore, by default on the latest. */
function agreed(which = '(SELECT max(id) FROM restores)'): Sql[] {
  const [propose, confirm] = confirmedProposal(PROPOSAL, 'recovery_opening', {});
  const values = propose?.values ?? [];
  const text = (propose?.text ?? '').replace(
    '$3',
    `(SELECT json_build_object('restore', ${which}::text, 'unused', $3::text))`,
  );
  return [{ text, values }, confirm!];
}

const STALE = plain("UPDATE fence SET counter = counter + 1, written_at = clock_timestamp() - lasts - interval '1 s'");
const AHEAD = plain("UPDATE fence SET counter = counter + 1, written_at = clock_timestamp() + lasts + interval '1 s'");
const RESTARTED = plain(
  "UPDATE fence SET counter = counter + 1, server_started_at = server_started_at - interval '1 s'",
);
const PROMOTED = plain('UPDATE fence SET counter = counter + 1, timeline = timeline + 1');
const FAILS = "state = 'failed', previous_state = state, version = version + 1";
const NEVER_SENT = `${FAILS}, failure_code = 'service_unavailable', failed_by = 'never_sent'`;

type Act = readonly [what: string, act: (fixture: RuleFixture) => Sql];

/** Everything through which money moves. */
const ACTS: readonly Act[] = [
  ['a send begins', ({ collections }) => update('payments', collections.initiated, 'send_begun_at = now()')],
  ['a payout is sent', ({ payouts }) => update('payments', payouts.released, SENT_NOW)],
  ['a payout is requested', (fixture) => insert(fixture, 'payouts')],
  ['a refund is requested', (fixture) => insert(fixture, 'reversals')],
  ['a payout is released', ({ payouts }) => move(payouts.queued, 'released')],
  ['a payout is rejected', ({ payouts }) => move(payouts.queued, 'rejected')],
  ['a payout is cancelled', ({ payouts }) => move(payouts.queued, 'cancelled')],
  ['a payout expires', ({ payouts }) => move(payouts.queued, 'expired')],
  ['a payout fails', ({ payouts }) => update('payments', payouts.released, NEVER_SENT)],
  ['a refund is released', ({ reversals }) => move(reversals.queued, 'released')],
  ['a collection is paid', ({ collections }) => move(collections.prompted, 'succeeded')],
  ['a collection fails', ({ collections }) => move(collections.prompted, 'failed', "failure_code = 'unknown'")],
  [
    'a transfer is posted',
    () =>
      plain(`INSERT INTO ledger_transfers (kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency, created_at)
      SELECT kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency, now() FROM ledger_transfers LIMIT 1`),
  ],
  [
    'a payout gets another generation',
    ({ payouts }) => ({
      text: `INSERT INTO send_generations (payment_id, generation, operator_reference, failure_code, recorded_at, send_after, attestation)
        VALUES ($1, 2, gen_random_uuid(), 'operator_unavailable', now(), now(), repeat('A', 43))`,
      values: [payouts.released],
    }),
  ],
];

const REPEATED_TWICE = 'send_repeated_at = coalesce(send_repeated_at, now())';

const FOUND = 'restore_found';
/** About the latest restore. */
function finding({ payouts }: RuleFixture, columns: Row = {}): Sql {
  const row = { payment_id: payouts.queued, generation: 1, said: 'paid', restore_id: null, ...columns };
  return {
    text: `INSERT INTO restore_findings (payment_id, generation, said, restore_id, operator_reference, asked_at)
      VALUES ($1, $2, $3, coalesce($4, (SELECT max(id) FROM restores)), gen_random_uuid(), now())`,
    values: [row.payment_id, row.generation, row.said, row.restore_id],
  };
}
/** The service goes on: nothing else refuses the act. */
const OPENED = plain(`UPDATE restores SET opened_at = now(), proposal_id = (SELECT min(id) FROM staff_proposals)`);
const UNGUARDED = plain('ALTER TABLE restores DISABLE TRIGGER restores_check');

export const FENCE_RULE_CASES: readonly RuleCase[] = [
  ruleCase('a second fence', 'fence_pkey', fence('is_only', 'true')),
  ruleCase('a second fence beside the first', 'fence_one_row', fence('is_only', 'false')),
  ruleCase('a fence that counts below nothing', 'fence_counter', fence('counter', '-1')),
  ruleCase('a fence that is never fresh', 'fence_lasts', fence('lasts', "'0 s'")),
  ruleCase('a fence that was written by nobody', 'fence_written', fence('written_at', 'now()')),
  ruleCase('a write of the fence that does not count', COUNTS, () => [plain('UPDATE fence SET written_at = now()')]),
  ruleCase('a fence that counts down', COUNTS, () => [plain('UPDATE fence SET counter = counter - 1')]),
  ...refusedChanges('fence', ['DELETE', 'TRUNCATE'], 'counter'),
  ...wrongInserts('restores', [
    ['a restore for no known reason', { reason: 'bad luck' }, 'restores_reason'],
    ['a restore by an unknown marker', { marker: 'paper' }, 'restores_marker'],
    ['a restore by a marker without its count', { marker_counter: null }, 'restores_behind'],
    ['a restore by half a marker', { reason: 'other_cluster', marker_counter: null }, 'restores_of_marker'],
    ['a restore that is behind nothing', { marker_counter: 5 }, 'restores_behind'],
  ]),
  ruleCase('two restores with one id', 'restores_pkey', (fixture) => [
    restore(fixture),
    plain(`INSERT INTO restores OVERRIDING SYSTEM VALUE SELECT * FROM restores`),
  ]),
  ruleCase('a restore that is opened from the beginning', /a restore that is found is not opened yet/, (fixture) => [
    insert(fixture, 'restores', { opened_at: new Date(), proposal_id: fixture.staff.recovery }),
  ]),
  ruleCase('an opening that nobody proposed', BY_TWO, (fixture) => [restore(fixture), open()]),
  ruleCase('an opening by a proposal of something else', BY_TWO, (fixture) => [
    restore(fixture),
    open(`opened_at = now(), proposal_id = '${fixture.staff.recovery}'`),
  ]),
  ruleCase('an opening without its proposal', 'restores_opened', (fixture) => [
    restore(fixture),
    plain('ALTER TABLE restores DISABLE TRIGGER restores_check'),
    open('opened_at = now()'),
  ]),
  ruleCase('an opening on which two agreed before the latest restore', BY_TWO, (fixture) => [
    restore(fixture),
    ...agreed(),
    restore(fixture),
    open(),
  ]),
  ruleCase('a second opening', KEPT, (fixture) => [restore(fixture), ...agreed(), open(), open()]),
  ruleCase('another reason of a restore', KEPT, (fixture) => [restore(fixture), open("reason = 'no_marker'")]),
  ...refusedChanges('restores', ['DELETE', 'TRUNCATE']),
  ...ACTS.flatMap(([what, act]) => [
    ruleCase(`that ${what} while the fence is stale`, 'fence_fresh', (fixture) => [STALE, act(fixture)]),
    ruleCase(`that ${what} in recovery`, 'fence_open', (fixture) => [restore(fixture), act(fixture)]),
  ]),
  ruleCase('a third try to send while the fence is stale', 'fence_fresh', ({ payouts }) => [
    update('payments', payouts.released, SENT_NOW),
    update('payments', payouts.released, REPEATED_TWICE),
    STALE,
    update('payments', payouts.released, REPEATED_TWICE),
  ]),
  ...[
    ['a person, who it is not', { payment_id: newId('usr') }, 'restore_findings_payment'] as const,
    ['no generation', { generation: 0 }, 'restore_findings_generation'] as const,
    ['an unknown answer', { said: 'maybe' }, 'restore_findings_said'] as const,
    ['no restore', { restore_id: -1 }, 'restore_findings_restore'] as const,
  ].map(([what, columns, by]) =>
    ruleCase(`a finding about ${what}`, by, (fixture) => [restore(fixture), finding(fixture, columns)]),
  ),
  ruleCase('two findings about one generation', 'restore_findings_pkey', (fixture) => [
    restore(fixture),
    finding(fixture),
    finding(fixture),
  ]),
  ...refusedChanges('restore_findings', ['UPDATE', 'DELETE', 'TRUNCATE'], 'said'),
  ...(['rejected', 'cancelled', 'expired'] as const).map((state) =>
    ruleCase(`that a queued payout that the operator paid is ${state}`, FOUND, (fixture) => [
      restore(fixture),
      finding(fixture),
      UNGUARDED,
      OPENED,
      move(fixture.payouts.queued, state),
    ]),
  ),
  ruleCase('that a payout fails which the operator paid under a later generation', FOUND, (fixture) => [
    restore(fixture),
    finding(fixture, { payment_id: fixture.payouts.released, generation: 2 }),
    UNGUARDED,
    OPENED,
    update('payments', fixture.payouts.released, NEVER_SENT),
  ]),
  ruleCase('a collection in recovery', 'fence_open', (fixture) => [restore(fixture), insert(fixture, 'collections')]),
  ruleCase('a collection before the database is compared with its markers', 'fence_fresh', (fixture) => [
    RESTARTED,
    insert(fixture, 'collections'),
  ]),
  ...[
    ['is ahead of the clock', AHEAD] as const,
    ['was written before PostgreSQL started', RESTARTED] as const,
    ['is of another timeline', PROMOTED] as const,
  ].map(([what, change]) =>
    ruleCase(`a send while the fence ${what}`, 'fence_fresh', ({ collections }) => [
      change,
      update('payments', collections.initiated, 'send_begun_at = now()'),
    ]),
  ),
];
