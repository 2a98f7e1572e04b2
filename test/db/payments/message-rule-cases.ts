// Wrong rows of messages of operators and of the queries that they answer, each with the rule that refuses it.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { insert, refusedChanges, ruleCase, twoRows, wrongInserts, type RuleCase, type Sql } from '../rule-cases.ts';

const MESSAGE = { purpose: 'result', attestation: '1.mac' };
const READ_ONCE = /a callback of an operator changes only when it is read, once/;
const ANSWERED_ONCE = /a query about .* changes only when it is answered, once/;
const NO_QUERY = /is of no payment of its merchant, or was answered before it was sent/;

const all = (table: string, assignment: string): Sql => ({ text: `UPDATE ${table} SET ${assignment}`, values: [] });
const WITHOUT_TRIGGER = { text: 'ALTER TABLE operator_queries DISABLE TRIGGER operator_queries_check', values: [] };

export const MESSAGE_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('operator_callbacks', [
    ['a message of another purpose', { purpose: 'rumour', attestation: '1.mac' }, 'operator_callbacks_purpose'],
    ['a message without an attestation', { purpose: 'result' }, 'operator_callbacks_message'],
    ['an attestation of a mere callback', { attestation: '1.mac' }, 'operator_callbacks_message'],
    ['an answer to no query', { ...MESSAGE, purpose: 'query' }, 'operator_callbacks_message'],
    ['a query of a result', { ...MESSAGE, query_id: randomUUID() }, 'operator_callbacks_message'],
    ['a mere callback that was read', { read_at: new Date() }, 'operator_callbacks_message'],
  ]),
  ...['body = \'{"ResultCode":0}\'', "purpose = 'timeout'", "attestation = '1.other'", 'received_at = now()'].map(
    (assignment) =>
      ruleCase(`${assignment} of a message`, READ_ONCE, (fixture) => [
        insert(fixture, 'operator_callbacks', { ...MESSAGE, received_at: new Date(0) }),
        all('operator_callbacks', assignment),
      ]),
  ),
  ruleCase('that a message was not read', READ_ONCE, (fixture) => [
    insert(fixture, 'operator_callbacks', { ...MESSAGE, read_at: new Date() }),
    all('operator_callbacks', 'read_at = NULL'),
  ]),
  ...refusedChanges('operator_queries', ['TRUNCATE']),
  twoRows('two queries with one id', 'operator_queries_pkey', 'operator_queries', () => ({
    id: '0190f5fe-7c00-4a00-8000-000000000001',
  })),
  ruleCase('a query about no payment', NO_QUERY, (fixture) => [
    insert(fixture, 'operator_queries', { payment_id: newId('pay') }),
  ]),
  ruleCase('a query about a payment of another merchant', NO_QUERY, (fixture) => [
    insert(fixture, 'operator_queries', { merchant_id: fixture.otherMerchantId }),
  ]),
  ruleCase('a query that was answered before it was sent', NO_QUERY, (fixture) => [
    insert(fixture, 'operator_queries', { answered_at: new Date() }),
  ]),
  ruleCase('a query about no payment, with the trigger disabled', 'operator_queries_payment_id_fkey', (fixture) => [
    WITHOUT_TRIGGER,
    insert(fixture, 'operator_queries', { payment_id: newId('pay') }),
  ]),
  ruleCase('a query of no merchant, with the trigger disabled', 'operator_queries_merchant_id_fkey', (fixture) => [
    WITHOUT_TRIGGER,
    insert(fixture, 'operator_queries', { merchant_id: newId('mer') }),
  ]),
  ...['asked_at = now()', 'seen_callback_id = 9', "attestation = '1.other'"].map((assignment) =>
    ruleCase(`${assignment} of a query`, ANSWERED_ONCE, (fixture) => [
      insert(fixture, 'operator_queries', { asked_at: new Date(0) }),
      all('operator_queries', assignment),
    ]),
  ),
  ruleCase('a second answer to a query', ANSWERED_ONCE, (fixture) => [
    insert(fixture, 'operator_queries'),
    all('operator_queries', 'answered_at = now()'),
    all('operator_queries', "answered_at = now() + interval '1 s'"),
  ]),
];
