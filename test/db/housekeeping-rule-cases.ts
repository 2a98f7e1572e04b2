// What the database refuses of the record of housekeeping.
import { refusedChanges, ruleCase, type RuleCase, type Sql } from './rule-cases.ts';

const insert = (values: string): Sql => ({ text: `INSERT INTO housekeeping VALUES (${values})`, values: [] });
const update = (assignment: string): Sql => ({ text: `UPDATE housekeeping SET ${assignment}`, values: [] });

const DONE = "'purge', now(), 0";
const FORWARD = /as of when purge is done goes forward alone/;

export const HOUSEKEEPING_RULE_CASES: readonly RuleCase[] = [
  ruleCase('a task of housekeeping twice', 'housekeeping_pkey', () => [insert(DONE), insert(DONE)]),
  ruleCase('an unknown task of housekeeping', 'housekeeping_task', () => [insert("'nothing', now(), 0")]),
  ruleCase('fewer faults than none', 'housekeeping_faults', () => [insert("'purge', now(), -1")]),
  ruleCase('housekeeping that is done as of an earlier time', FORWARD, () => [
    insert(DONE),
    update("done_as_of = done_as_of - interval '1 s'"),
  ]),
  ruleCase(
    'an earlier time up to which payments are checked',
    /as of when changed_payments is done goes forward alone/,
    () => [insert("'changed_payments', now(), 0"), update("done_as_of = done_as_of - interval '1 s'")],
  ),
  ruleCase('a second time up to which payments are checked', 'housekeeping_pkey', () => [
    insert("'changed_payments', now(), 0"),
    insert("'changed_payments', now(), 0"),
  ]),
  ruleCase('the record of one task as that of another', FORWARD, () => [
    insert(DONE),
    update("task = 'status_queries'"),
  ]),
  ...refusedChanges('housekeeping', ['DELETE', 'TRUNCATE'], 'task'),
];
