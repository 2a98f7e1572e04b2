// Refused rows of work, and of payments and deliveries without work.
import { insertRow, move, ruleCase, update, VALID_ROWS, type Row, type RuleCase, type Sql } from './rule-cases.ts';

const VALID: Row = {
  id: 'col_01',
  task: 'workflow',
  kind: 'collection',
  merchant_id: 'mer_01',
  operator: 'mtn-momo',
  priority: 0,
  is_started: false,
  due_at: new Date(),
};
const work = (columns: Row = {}): Sql => insertRow('work', { ...VALID, ...columns });
const endWork = (id: string): Sql => ({ text: 'DELETE FROM work WHERE id = $1', values: [id] });

const GRANTS: Row = { operator: 'mtn-momo', second: new Date('2026-11-22T06:00:00Z'), taken: 3 };
const grants = (columns: Row = {}): Sql => insertRow('call_grants', { ...GRANTS, ...columns });
const updateGrants = (assignment: string): Sql => ({ text: `UPDATE call_grants SET ${assignment}`, values: [] });
const GRANTED = /are not granted again/;

export const CALL_GRANT_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two rows of grants of one operator', 'call_grants_pkey', () => [grants(), grants()]),
  ruleCase('grants of a part of a second', 'call_grants_second', () => [grants({ second: new Date(1) })]),
  ruleCase('fewer grants than none', 'call_grants_taken', () => [grants({ taken: -1 })]),
  ruleCase('grants of an earlier second', GRANTED, () => [
    grants(),
    updateGrants("second = second - interval '1 second'"),
  ]),
  ruleCase('fewer grants of a second than were taken', GRANTED, () => [grants(), updateGrants('taken = 2')]),
  ruleCase('grants of one operator as those of another', GRANTED, () => [grants(), updateGrants("operator = 'other'")]),
];

export const WORK_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two pieces of work of one task', 'work_pkey', () => [work(), work()]),
  ruleCase('work of an unknown task', 'work_task_check', () => [work({ task: 'nothing', is_started: null })]),
  ruleCase('work of an unknown kind', 'work_kind_check', () => [work({ kind: 'checkout' })]),
  ruleCase('work of an unknown priority', 'work_priority_check', () => [work({ priority: 3 })]),
  ruleCase('a status query with a workflow', 'work_of_workflow', () => [work({ task: 'status_query' })]),
  ruleCase('a workflow that is neither started nor unstarted', 'work_of_workflow', () => [work({ is_started: null })]),
  ruleCase('work that is never due and that nobody has claimed', 'work_due', () => [work({ due_at: null })]),
  ruleCase('a new collection without work', /nobody would begin with the new payment/, (fixture) => [
    insertRow('payments', VALID_ROWS.collections(fixture)),
  ]),
  ruleCase('a new payout without work', /nobody would begin with the new payment/, (fixture) => [
    insertRow('payments', VALID_ROWS.payouts(fixture)),
  ]),
  ruleCase('a new refund without work', /nobody would begin with the new payment/, (fixture) => [
    insertRow('payments', VALID_ROWS.reversals(fixture)),
  ]),
  ruleCase('a collection that is prompted and has no work', /nobody would carry on with collection/, (fixture) => [
    endWork(fixture.collections.initiated),
    move(fixture.collections.initiated, 'prompted', 'prompt_expires_at = now()'),
  ]),
  ruleCase(
    'a collection that is prompted and has no status query',
    /nobody would ask the operator about collection/,
    (fixture) => [move(fixture.collections.initiated, 'prompted', 'prompt_expires_at = now()')],
  ),
  ruleCase(
    'a payout whose outcome is unknown and that has no status query',
    /nobody would ask the operator about payout/,
    (fixture) => [move(fixture.payouts.released, 'reconciling')],
  ),
  ruleCase('a delivery that is retried and has no work', /nobody would make the next attempt/, ({ deliveryId }) => [
    update('deliveries', deliveryId, "state = 'retrying'"),
  ]),
];
