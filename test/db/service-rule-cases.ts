// Refused rows of the service's own records: its environment, its housekeeping and its log of requests.
import { newId } from '../../src/domain/ids.ts';
import { insertRow, refusedChanges, ruleCase, type RuleCase, type RuleFixture, type Sql } from './rule-cases.ts';

const insert = (table: string, values: string): Sql => ({
  text: `INSERT INTO ${table} VALUES (${values})`,
  values: [],
});
const deploy = (values: string) => () => [insert('deployment', values)];
const keep = (values: string): Sql => insert('housekeeping', values);
const update = (assignment: string): Sql => ({ text: `UPDATE housekeeping SET ${assignment}`, values: [] });

const DONE = "'purge', now(), 0";
const CHECKED = "'changed_payments', now(), 0";
const FORWARD = /as of when purge is done goes forward alone/;

const ID = newId('req');
const request = ({ merchantId }: RuleFixture, id: string = ID): Sql =>
  insertRow('api_requests', {
    ...{ id, merchant_id: merchantId, api_key_id: newId('key'), method: 'GET', route: '/', path: '/', status: 200 },
    ...{ duration_ms: 1, is_repeat: false, created_at: new Date() },
  });

export const SERVICE_RULE_CASES: readonly RuleCase[] = [
  ruleCase('a second environment for one database', 'deployment_pkey', deploy("true, 'live', now()")),
  ruleCase('a second environment beside the first', 'deployment_one_row', deploy("false, 'live', now()")),
  ruleCase('an unknown environment of a database', 'deployment_environment', deploy("true, 'staging', now()")),
  ...refusedChanges('deployment', ['UPDATE', 'DELETE', 'TRUNCATE'], 'environment'),
  ruleCase('a task of housekeeping twice', 'housekeeping_pkey', () => [keep(DONE), keep(DONE)]),
  ruleCase('an unknown task of housekeeping', 'housekeeping_task', () => [keep("'nothing', now(), 0")]),
  ruleCase('fewer faults than none', 'housekeeping_faults', () => [keep("'purge', now(), -1")]),
  ruleCase('housekeeping that is done as of an earlier time', FORWARD, () => [
    keep(DONE),
    update("done_as_of = done_as_of - interval '1 s'"),
  ]),
  ruleCase(
    'an earlier time up to which payments are checked',
    /as of when changed_payments is done goes forward alone/,
    () => [keep(CHECKED), update("done_as_of = done_as_of - interval '1 s'")],
  ),
  ruleCase('a second time up to which payments are checked', 'housekeeping_pkey', () => [keep(CHECKED), keep(CHECKED)]),
  ruleCase('the record of one task as that of another', FORWARD, () => [keep(DONE), update("task = 'status_queries'")]),
  ...refusedChanges('housekeeping', ['DELETE', 'TRUNCATE'], 'task'),
  ruleCase('two requests with one id', 'api_requests_pkey', (fixture) => [request(fixture), request(fixture)]),
  ruleCase('a request with the id of something else', 'api_requests_id_check', (fixture) => [
    request(fixture, newId('evt')),
  ]),
];
