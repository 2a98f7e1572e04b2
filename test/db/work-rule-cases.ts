// What the database refuses of work, and of payments and deliveries without work.
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

export const WORK_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two pieces of work of one task', 'work_pkey', () => [work(), work()]),
  ruleCase('work of an unknown task', 'work_task_check', () => [work({ task: 'nothing', is_started: null })]),
  ruleCase('work of an unknown kind', 'work_kind_check', () => [work({ kind: 'checkout' })]),
  ruleCase('work of an unknown priority', 'work_priority_check', () => [work({ priority: 3 })]),
  ruleCase('a recheck with a workflow', 'work_of_workflow', () => [work({ task: 'recheck' })]),
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
  ruleCase('a delivery that is retried and has no work', /nobody would make the next attempt/, ({ deliveryId }) => [
    update('deliveries', deliveryId, "state = 'retrying'"),
  ]),
];
