// Refused rows of the breakers of operators, and of their tokens.
import { insertRow, ruleCase, type Row, type RuleCase, type Sql } from './rule-cases.ts';

const NOW = new Date();
const ROW: Row = { operator: 'mtn-momo', product: 'collection' };
const CLOSED: Row = { ...ROW, state: 'closed', changed_at: NOW };
const WHY: Row = { cause: 'busy', reason: 'http 503', opened_at: NOW };
const OPEN: Row = { ...CLOSED, ...WHY, state: 'open', retry_at: new Date(0), pauses: 1 };
const breaker = (columns: Row = {}): Sql => insertRow('breakers', { ...OPEN, ...columns });
const updateBreaker = (assignment: string): Sql => ({ text: `UPDATE breakers SET ${assignment}`, values: [] });
const ONE_CALL = /lets one call through after a pause and no other/;
const HALF_OPEN = "state = 'half_open', retry_at = now() + interval '1 hour'";

export const BREAKER_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two breakers of one product', 'breakers_pkey', () => [breaker(), breaker()]),
  ruleCase('a breaker of an unknown product', 'breakers_product', () => [breaker({ product: 'remittance' })]),
  ruleCase('a breaker in an unknown state', 'breakers_state', () => [breaker({ state: 'ajar' })]),
  ruleCase('a breaker that is open for an unknown cause', 'breakers_cause', () => [breaker({ cause: 'weather' })]),
  ruleCase('a breaker that is open without words', 'breakers_reason', () => [breaker({ reason: '' })]),
  ruleCase('fewer pauses than none', 'breakers_pauses', () => [breaker({ pauses: -1 })]),
  ruleCase('an open breaker without a cause', 'breakers_open', () => [breaker({ cause: null })]),
  ruleCase('an open breaker without its time', 'breakers_open', () => [breaker({ opened_at: null })]),
  ruleCase('a closed breaker with a cause', 'breakers_open', () => [breaker({ state: 'closed', retry_at: null })]),
  ruleCase('an open breaker whose pause has no end', 'breakers_retry', () => [breaker({ retry_at: null })]),
  ruleCase('a breaker of staff whose pause ends by itself', 'breakers_retry', () => [breaker({ cause: 'staff' })]),
  ruleCase('a call that a breaker of staff lets through', 'breakers_by_staff', () => [
    breaker({ cause: 'staff', retry_at: null, state: 'half_open' }),
  ]),
  ruleCase('a call before the end of the pause', ONE_CALL, () => [
    breaker({ retry_at: new Date(Date.now() + 3_600_000) }),
    updateBreaker(`${HALF_OPEN}, probes = probes + 1`),
  ]),
  ruleCase('a second call while the first is in progress', ONE_CALL, () => [
    breaker(),
    updateBreaker(`${HALF_OPEN}, probes = probes + 1`),
    updateBreaker(`${HALF_OPEN}, probes = probes + 1`),
  ]),
  ruleCase('a call without a number of its own', ONE_CALL, () => [breaker(), updateBreaker(HALF_OPEN)]),
  ruleCase('a breaker as that of another operator', ONE_CALL, () => [breaker(), updateBreaker("operator = 'other'")]),
  ruleCase('a breaker as that of another product', ONE_CALL, () => [
    breaker(),
    updateBreaker("product = 'disbursement'"),
  ]),
  ruleCase('a number of calls that falls', ONE_CALL, () => [breaker({ probes: 3 }), updateBreaker('probes = 2')]),
];

const TOKEN: Row = { ...ROW, number: 1, token_sealed: 'k.sealed', renew_at: NOW };
const token = (columns: Row = {}): Sql => insertRow('operator_tokens', { ...TOKEN, ...columns });
const updateToken = (assignment: string): Sql => ({ text: `UPDATE operator_tokens SET ${assignment}`, values: [] });
const NEXT_ALONE = /is replaced by the next one alone/;

export const TOKEN_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two tokens of one product', 'operator_tokens_pkey', () => [token(), token()]),
  ruleCase('a token of an unknown product', 'operator_tokens_product', () => [token({ product: 'remittance' })]),
  ruleCase('a token with a number below zero', 'operator_tokens_number', () => [token({ number: -1 })]),
  ruleCase('a token that is on its way and there', 'operator_tokens_stored', () => [token({ number: 0 })]),
  ruleCase('a token without its end', 'operator_tokens_stored', () => [token({ renew_at: null })]),
  ruleCase('another token under the same number', NEXT_ALONE, () => [token(), updateToken("token_sealed = 'k.other'")]),
  ruleCase('the same token under another number', NEXT_ALONE, () => [token(), updateToken('number = 2')]),
  ruleCase('a token as that of another operator', NEXT_ALONE, () => [token(), updateToken("operator = 'other'")]),
  ruleCase('a token as that of another product', NEXT_ALONE, () => [token(), updateToken("product = 'disbursement'")]),
];
