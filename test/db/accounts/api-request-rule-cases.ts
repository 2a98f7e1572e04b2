// What the database refuses of the request log.
import { newId } from '../../../src/domain/ids.ts';
import { insertRow, ruleCase, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';

const ID = newId('req');
const request = ({ merchantId }: RuleFixture, id: string = ID): Sql =>
  insertRow('api_requests', {
    ...{ id, merchant_id: merchantId, api_key_id: newId('key'), method: 'GET', route: '/', path: '/', status: 200 },
    ...{ duration_ms: 1, is_repeat: false, created_at: new Date() },
  });

export const API_REQUEST_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two requests with one id', 'api_requests_pkey', (fixture) => [request(fixture), request(fixture)]),
  ruleCase('a request with the id of something else', 'api_requests_id_check', (fixture) => [
    request(fixture, newId('evt')),
  ]),
];
