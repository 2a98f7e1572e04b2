// Invalid rows and changes of accounts with operators, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { AMINA, BRIAN } from '../../support/staff.ts';
import { insert, ruleCase, update, type Row, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';
import { ACCOUNT, confirmedProposal } from './staff-rows.ts';

const PROPOSAL = newId('spr');
const OTHER = newId('spr');
const ID = newId('opa');

/** A row on which two of the staff agreed as it is. */
function agreedRow(
  fixture: RuleFixture,
  columns: Row & { readonly identifiers?: unknown } = {},
  proposal = PROPOSAL,
): Sql[] {
  const { id = ID, ...others } = { ...ACCOUNT, ...columns };
  const row = { ...others, id, identifiers: JSON.stringify(others.identifiers), proposal_id: proposal };
  return [
    ...confirmedProposal(proposal, 'operator_account_addition', { ...others, account: id }),
    insert(fixture, 'operator_accounts', row),
  ];
}

const wrongRows: readonly (readonly [what: string, columns: Row, rule: string])[] = [
  ['a malformed id', { id: 'opa_1' }, 'id_check'],
  ['an operator in capitals', { operator: 'MTN' }, 'operator_check'],
  ['a country in small letters', { country: 'ug' }, 'country_check'],
  ['an unknown currency', { currency: 'ZZZ' }, 'currency_fkey'],
  ['a market without a currency', { currency: null }, 'market'],
  ['an address that is none', { base_url: 'operator.example' }, 'base_url_check'],
  ['no call a second', { calls_per_second: 0 }, 'calls_per_second_check'],
  ['identifiers that are no object', { identifiers: [] }, 'identifiers_check'],
  ['no credentials', { credentials_sealed: '' }, 'credentials_sealed_check'],
];

/** An account, and then this change of it by an agreement of this kind. */
function accountChange(assignments: string, kind: string | null = null, payload: object = {}): RuleCase['breaks'] {
  return (fixture) => [
    ...agreedRow(fixture),
    ...(kind === null ? [] : confirmedProposal(OTHER, kind, { ...ACCOUNT, account: ID, ...payload })),
    update('operator_accounts', ID, assignments),
  ];
}

const NOT_AGREED = /two of the staff add or change an account/;
const AS_AGREED = /is as the two of the staff agreed/;
const ROTATED = `proposal_id = '${OTHER}'`;
const CLOSED = `state = 'closed', ${ROTATED}`;

export const OPERATOR_ACCOUNT_RULE_CASES: readonly RuleCase[] = [
  ...wrongRows.map(([what, columns, rule]) =>
    ruleCase(`an account with ${what}`, `operator_accounts_${rule}`, (fixture) => agreedRow(fixture, columns)),
  ),
  ruleCase('an account in an unknown state', 'operator_accounts_state_check', (fixture) => [
    insert(fixture, 'operator_accounts', { state: 'open' }),
  ]),
  ruleCase('one id for two accounts', 'operator_accounts_pkey', (fixture) => [
    ...agreedRow(fixture),
    ...agreedRow(fixture, { operator: 'airtel-money' }, OTHER),
  ]),
  ruleCase('two accounts with one operator', 'operator_accounts_one_of_an_operator', (fixture) => [
    ...agreedRow(fixture),
    insert(fixture, 'operator_accounts'),
  ]),
  ruleCase('an account that begins closed', NOT_AGREED, (fixture) => [
    insert(fixture, 'operator_accounts', { state: 'closed' }),
  ]),
  ruleCase('an account that somebody else added than who agreed', NOT_AGREED, (fixture) => [
    insert(fixture, 'operator_accounts', { proposed_by: BRIAN.id, confirmed_by: AMINA.id }),
  ]),
  ruleCase('an account by an agreement about another one', NOT_AGREED, (fixture) => [
    insert(fixture, 'operator_accounts', { id: ID }),
  ]),
  ...Object.entries({ operator: 'daraja', country: 'RW', base_url: 'https://x.example', calls_per_second: 21 }).map(
    ([column, value]) =>
      ruleCase(`an account with another ${column} than was agreed`, AS_AGREED, (fixture) => [
        insert(fixture, 'operator_accounts', { [column]: value }),
      ]),
  ),
  ruleCase('an account with other credentials than were agreed', AS_AGREED, (fixture) => [
    insert(fixture, 'operator_accounts', { credentials_sealed: 'k.other' }),
  ]),
  ruleCase('an account with other identifiers than were agreed', AS_AGREED, (fixture) => [
    insert(fixture, 'operator_accounts', { identifiers: '{"user": "v"}' }),
  ]),
  ...["operator = 'daraja'", "country = 'RW'", "created_at = now() - interval '1 day'"].map((change) =>
    ruleCase(
      `to change of an account: ${change.split(' ')[0] ?? ''}`,
      /beginning of a row of operator_accounts never change/,
      accountChange(change),
    ),
  ),
  ruleCase('other credentials on which no two agreed', NOT_AGREED, accountChange("credentials_sealed = 'k.other'")),
  ruleCase(
    'to close an account by an agreement to rotate',
    NOT_AGREED,
    accountChange(CLOSED, 'operator_account_rotation'),
  ),
  ruleCase(
    'to rotate an account by an agreement to close',
    NOT_AGREED,
    accountChange(ROTATED, 'operator_account_closing'),
  ),
  ruleCase(
    'other credentials than were agreed',
    AS_AGREED,
    accountChange(`${ROTATED}, credentials_sealed = 'k.other'`, 'operator_account_rotation'),
  ),
  ruleCase(
    'other credentials as an account is closed',
    /closing account .* changes nothing else/,
    accountChange(`${CLOSED}, credentials_sealed = 'k.other'`, 'operator_account_closing'),
  ),
  ruleCase('to rotate an account by an earlier agreement', /is not the last one about account/, (fixture) => [
    ...confirmedProposal(OTHER, 'operator_account_rotation', { ...ACCOUNT, account: ID }),
    ...agreedRow(fixture),
    update('operator_accounts', ID, ROTATED),
  ]),
];
